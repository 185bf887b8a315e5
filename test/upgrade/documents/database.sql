-- Tables of all documents in this folder. Add to them, and change nothing that a document uses.
create table customer (id int primary key, name text not null, parent_id int references customer, address jsonb);
create table orders (id serial primary key, customer_id int not null references customer, total numeric not null, state text not null default 'new');
create table order_state (value text primary key, comment text);
insert into order_state values ('new', 'just placed'), ('sent', null);
alter table orders add foreign key (state) references order_state;
create view open_order as select id, customer_id, total from orders where state = 'new';
create function order_label(orders) returns text language sql stable as $$ select 'order ' || $1.id $$;
create function search_customer(term text) returns setof customer language sql stable as $$ select * from customer where name ilike '%' || term || '%' $$;
