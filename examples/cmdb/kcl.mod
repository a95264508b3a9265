[package]
name = "cmdb-example"
version = "0.1.0"

[plugins]
cmdb = ["python3", "plugins/cmdb.py"]
