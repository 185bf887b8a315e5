/** Table of the sample music store; tables are listed in an order in which rows can be inserted. */
export interface SampleTable {
  /** Types by column name. */
  readonly columns: Readonly<Record<string, string>>;
  readonly key: readonly string[];
  readonly references: readonly Reference[];
}

export interface Reference {
  readonly column: string;
  readonly table: string;
  /** Name of the object relationship of this table. */
  readonly object: string;
  /** Name of the array relationship of the other table. */
  readonly array: string;
}

function to(column: string, table: string, object: string, array: string): Reference {
  return { column, table, object, array };
}

function table(columns: Readonly<Record<string, string>>, references: readonly Reference[] = [], key?: readonly string[]): SampleTable {
  return { columns, references, key: key ?? [Object.keys(columns)[0] as string] };
}

export const SAMPLE_TABLES: Readonly<Record<string, SampleTable>> = {
  artist: table({ artist_id: 'int', name: 'varchar(120)' }),
  genre: table({ genre_id: 'int', name: 'varchar(120)' }),
  media_type: table({ media_type_id: 'int', name: 'varchar(120)' }),
  playlist: table({ playlist_id: 'int', name: 'varchar(120)' }),
  employee: table(
    {
      employee_id: 'int',
      last_name: 'varchar(20) not null',
      first_name: 'varchar(20) not null',
      title: 'varchar(30)',
      reports_to: 'int',
      birth_date: 'timestamp',
      hire_date: 'timestamp',
      city: 'varchar(40)',
      country: 'varchar(40)',
      phone: 'varchar(24)',
      email: 'varchar(60)',
    },
    [to('reports_to', 'employee', 'manager', 'reports')],
  ),
  album: table({ album_id: 'int', title: 'varchar(160) not null', artist_id: 'int not null' }, [
    to('artist_id', 'artist', 'artist', 'albums'),
  ]),
  customer: table(
    {
      customer_id: 'int',
      first_name: 'varchar(40) not null',
      last_name: 'varchar(20) not null',
      company: 'varchar(80)',
      address: 'varchar(70)',
      city: 'varchar(40)',
      country: 'varchar(40)',
      phone: 'varchar(24)',
      email: 'varchar(60) not null',
      support_rep_id: 'int',
    },
    [to('support_rep_id', 'employee', 'support_rep', 'customers')],
  ),
  track: table(
    {
      track_id: 'int',
      name: 'varchar(200) not null',
      album_id: 'int',
      media_type_id: 'int not null',
      genre_id: 'int',
      composer: 'varchar(220)',
      milliseconds: 'int not null',
      bytes: 'int',
      unit_price: 'numeric(10,2) not null',
    },
    [
      to('album_id', 'album', 'album', 'tracks'),
      to('media_type_id', 'media_type', 'media_type', 'tracks'),
      to('genre_id', 'genre', 'genre', 'tracks'),
    ],
  ),
  playlist_track: table(
    { playlist_id: 'int not null', track_id: 'int not null' },
    [to('playlist_id', 'playlist', 'playlist', 'playlist_tracks'), to('track_id', 'track', 'track', 'playlist_tracks')],
    ['playlist_id', 'track_id'],
  ),
  invoice: table(
    {
      invoice_id: 'int',
      customer_id: 'int not null',
      invoice_date: 'timestamp not null',
      billing_city: 'varchar(40)',
      billing_country: 'varchar(40)',
      total: 'numeric(10,2) not null',
    },
    [to('customer_id', 'customer', 'customer', 'invoices')],
  ),
  invoice_line: table(
    {
      invoice_line_id: 'int',
      invoice_id: 'int not null',
      track_id: 'int not null',
      unit_price: 'numeric(10,2) not null',
      quantity: 'int not null',
    },
    [to('invoice_id', 'invoice', 'invoice', 'invoice_lines'), to('track_id', 'track', 'track', 'invoice_lines')],
  ),
};
