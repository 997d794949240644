mod a;
mod b;
mod c;
mod d;
