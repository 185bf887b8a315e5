import { SAMPLE_TABLES } from './tables.ts';

export type SampleRow = Readonly<Record<string, string | number | null>>;

const COUNT = {
  artist: 275,
  playlist: 18,
  employee: 8,
  album: 347,
  customer: 59,
  track: 3503,
  playlistTrack: 8715,
  invoice: 412,
  line: 2240,
};
/** As in the original store, the last artists have no album. */
const ARTISTS_WITH_ALBUMS = 204;

const GENRES =
  'Rock,Jazz,Metal,Alternative,Blues,Latin,Reggae,Pop,Soundtrack,Classical,Comedy,World,Electronica,Drama,Opera,Folk,Soul,Punk,Ambient,Country,Hip Hop,Dance,House,Swing,Gospel'.split(
    ',',
  );
const MEDIA_TYPES = ['MPEG audio', 'Protected AAC audio', 'Protected MPEG-4 video', 'Purchased AAC audio', 'AAC audio'];
const WORDS =
  'Amber Harbour Northern Velvet Copper Winter Signal Paper Orchard Thunder Lantern Hollow Crimson Mirror Engine Silver Meadow Broken Distant Midnight Café Señor Über “Live” Don’t Electric Golden River Glass Tiger Summer Echo'.split(
    ' ',
  );
const FIRST_NAMES = 'Ana,Björn,Carla,Dmitri,Elif,François,Grace,Hugo,Inês,Jonas,Kaja,Luís,Mina,Noor,Olga,Pedro,Quinn,Rosa,Søren,Tara'.split(
  ',',
);
const LAST_NAMES =
  'Almeida,Berg,Costa,Dubois,Eriksen,Fischer,García,Hansen,Ito,Jansen,Köhler,Lopes,Moreau,Novák,Okafor,Peeters,Rossi,Silva'.split(',');
const CITIES = [
  ['Prague', 'Czech Republic'],
  ['Oslo', 'Norway'],
  ['São Paulo', 'Brazil'],
  ['Paris', 'France'],
  ['Boston', 'USA'],
  ['Berlin', 'Germany'],
] as const;

/** Every row of the store by table, the same on every call. */
export function sampleRows(): Readonly<Record<string, readonly SampleRow[]>> {
  const random = createRandom(20_240_501);
  const one = <T>(list: readonly T[]): T => list[random.below(list.length)] as T;
  const phrase = (most: number): string => Array.from({ length: 1 + random.below(most) }, () => one(WORDS)).join(' ');
  const number = (least: number, most: number): number => least + random.below(most - least + 1);
  const chance = (percent: number): boolean => random.below(100) < percent;
  const day = (from: number, until: number): string =>
    `${number(from, until)}-${String(number(1, 12)).padStart(2, '0')}-${String(number(1, 28)).padStart(2, '0')}T00:00:00`;
  const phone = (): string => `+${number(1, 99)} ${number(100, 999)} ${number(1000, 9999)}`;
  const rows = (table: string, count: number, make: (id: number) => readonly (string | number | null)[]): SampleRow[] => {
    const columns = Object.keys(SAMPLE_TABLES[table]?.columns ?? {});
    return Array.from({ length: count }, (_, index) => {
      const values = make(index + 1);
      return Object.fromEntries(columns.map((column, i) => [column, values[i] ?? null]));
    });
  };

  const customerPlaces: (typeof CITIES)[number][] = [];
  const albumGenres: number[] = [];
  const prices: string[] = [];

  const artist = rows('artist', COUNT.artist, (id) => [id, phrase(3)]);
  const genre = rows('genre', GENRES.length, (id) => [id, GENRES[id - 1] as string]);
  const mediaType = rows('media_type', MEDIA_TYPES.length, (id) => [id, MEDIA_TYPES[id - 1] as string]);
  const playlist = rows('playlist', COUNT.playlist, (id) => [id, `Playlist ${phrase(2)}`]);
  const employee = rows('employee', COUNT.employee, (id) => {
    const [city, country] = one(CITIES);
    const first = one(FIRST_NAMES);
    const title = id === 1 ? 'General Manager' : id === 2 ? 'Sales Manager' : 'Sales Support Agent';
    const boss = id === 1 ? null : number(1, Math.min(2, id - 1));
    return [
      id,
      one(LAST_NAMES),
      first,
      title,
      boss,
      day(1955, 1990),
      day(2010, 2020),
      city,
      country,
      phone(),
      `employee${id}@store.example`,
    ];
  });
  const album = rows('album', COUNT.album, (id) => {
    albumGenres.push(chance(37) ? 1 : number(2, GENRES.length));
    return [id, phrase(4), id <= ARTISTS_WITH_ALBUMS ? id : number(1, ARTISTS_WITH_ALBUMS)];
  });
  const customer = rows('customer', COUNT.customer, (id) => {
    const place = one(CITIES);
    customerPlaces.push(place);
    const company = chance(20) ? `${one(WORDS)} Ltd` : null;
    const street = `${number(1, 300)} ${phrase(2)} Street`;
    return [id, one(FIRST_NAMES), one(LAST_NAMES), company, street, ...place, phone(), `customer${id}@mail.example`, number(3, 5)];
  });
  const track = rows('track', COUNT.track, (id) => {
    const albumId = id <= COUNT.album ? id : number(1, COUNT.album);
    const composer = chance(28) ? null : `${one(FIRST_NAMES)} ${one(LAST_NAMES)}, ${one(FIRST_NAMES)} ${one(LAST_NAMES)}`;
    prices.push(chance(94) ? '0.99' : '1.99');
    const media = chance(86) ? 1 : number(2, MEDIA_TYPES.length);
    const genreId = albumGenres[albumId - 1] as number;
    return [id, phrase(5), albumId, media, genreId, composer, number(60_000, 600_000), number(1e6, 2e7), prices[id - 1] as string];
  });
  const pairs = new Map<number, readonly [number, number]>();
  while (pairs.size < COUNT.playlistTrack) {
    const playlistId = chance(75) ? one([1, 5, 8]) : number(1, COUNT.playlist);
    const trackId = number(1, COUNT.track);
    pairs.set(playlistId * 10_000 + trackId, [playlistId, trackId]);
  }
  const pairList = [...pairs.values()];
  const playlistTrack = rows('playlist_track', COUNT.playlistTrack, (id) => pairList[id - 1] as readonly [number, number]);
  const cents = new Array<number>(COUNT.invoice).fill(0);
  const invoiceLine = rows('invoice_line', COUNT.line, (id) => {
    const invoiceId = id <= COUNT.invoice ? id : number(1, COUNT.invoice);
    const trackId = number(1, COUNT.track);
    const price = prices[trackId - 1] as string;
    cents[invoiceId - 1] = (cents[invoiceId - 1] ?? 0) + Math.round(Number(price) * 100);
    return [id, invoiceId, trackId, price, 1];
  });
  const invoice = rows('invoice', COUNT.invoice, (id) => {
    const customerId = number(1, COUNT.customer);
    const [city, country] = customerPlaces[customerId - 1] as (typeof CITIES)[number];
    return [id, customerId, day(2021, 2025), city, country, ((cents[id - 1] ?? 0) / 100).toFixed(2)];
  });
  return {
    artist,
    genre,
    media_type: mediaType,
    playlist,
    employee,
    album,
    customer,
    track,
    playlist_track: playlistTrack,
    invoice,
    invoice_line: invoiceLine,
  };
}

/** xorshift: small, seeded, and good enough to make names and prices look uneven. */
function createRandom(seed: number): { below(limit: number): number } {
  let state = seed;
  return {
    below(limit) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      return (state >>> 0) % limit;
    },
  };
}
