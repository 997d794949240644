pub struct B(super::a::A);
