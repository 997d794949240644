fn f() -> crate::c::first::F {}
