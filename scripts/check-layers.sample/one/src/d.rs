// use crate::c::C; is a comment.
pub struct D;

#[cfg(test)]
mod tests {
    use crate::a::A;
}
