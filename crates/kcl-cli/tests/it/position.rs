//! How the program is linked.

/// The type of an ELF file that can be loaded at any address.
const ET_DYN: u16 = 3;

#[test]
fn the_program_is_position_independent() {
    let bytes = std::fs::read(env!("CARGO_BIN_EXE_kcl")).expect("the program");
    assert_eq!(&bytes[..4], b"\x7fELF");
    let is_little = bytes[5] == 1;
    let read = if is_little { u16::from_le_bytes } else { u16::from_be_bytes };
    assert_eq!(read([bytes[16], bytes[17]]), ET_DYN, "the system cannot choose its addresses");
}
