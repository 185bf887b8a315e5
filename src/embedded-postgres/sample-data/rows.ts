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
type City = (typeof CITIES)[number];

/** Every row of the store by table, the same on every call: all rows come from one sequence of random numbers. */
export function sampleRows(): Readonly<Record<string, readonly SampleRow[]>> {
  const dice = new Dice(20_240_501);
  const artist = rows('artist', COUNT.artist, (id) => [id, dice.phrase(3)]);
  const genre = rows('genre', GENRES.length, (id) => [id, GENRES[id - 1] as string]);
  const mediaType = rows('media_type', MEDIA_TYPES.length, (id) => [id, MEDIA_TYPES[id - 1] as string]);
  const playlist = rows('playlist', COUNT.playlist, (id) => [id, `Playlist ${dice.phrase(2)}`]);
  const employee = employees(dice);
  const { album, albumGenres } = albums(dice);
  const { customer, places } = customers(dice);
  const { track, prices } = tracks(dice, albumGenres);
  const playlistTrack = playlistTracks(dice);
  const { invoiceLine, cents } = invoiceLines(dice, prices);
  const invoice = invoices(dice, places, cents);
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

/** Makes the rows of a table from the values of their columns. */
function rows(table: string, count: number, make: (id: number) => readonly (string | number | null)[]): SampleRow[] {
  const columns = Object.keys(SAMPLE_TABLES[table]?.columns ?? {});
  return Array.from({ length: count }, (_, index) => {
    const values = make(index + 1);
    return Object.fromEntries(columns.map((column, i) => [column, values[i] ?? null]));
  });
}

function employees(dice: Dice): readonly SampleRow[] {
  return rows('employee', COUNT.employee, (id) => {
    const [city, country] = dice.one(CITIES);
    const first = dice.one(FIRST_NAMES);
    const title = id === 1 ? 'General Manager' : id === 2 ? 'Sales Manager' : 'Sales Support Agent';
    const boss = id === 1 ? null : dice.number(1, Math.min(2, id - 1));
    return [
      id,
      dice.one(LAST_NAMES),
      first,
      title,
      boss,
      dice.day(1955, 1990),
      dice.day(2010, 2020),
      city,
      country,
      dice.phone(),
      `employee${id}@store.example`,
    ];
  });
}

function customers(dice: Dice): { readonly customer: readonly SampleRow[]; readonly places: readonly City[] } {
  const places: City[] = [];
  const customer = rows('customer', COUNT.customer, (id) => {
    const place = dice.one(CITIES);
    places.push(place);
    const company = dice.chance(20) ? `${dice.one(WORDS)} Ltd` : null;
    const street = `${dice.number(1, 300)} ${dice.phrase(2)} Street`;
    const names = [dice.one(FIRST_NAMES), dice.one(LAST_NAMES)];
    return [id, ...names, company, street, ...place, dice.phone(), `customer${id}@mail.example`, dice.number(3, 5)];
  });
  return { customer, places };
}

function albums(dice: Dice): { readonly album: readonly SampleRow[]; readonly albumGenres: readonly number[] } {
  const albumGenres: number[] = [];
  const album = rows('album', COUNT.album, (id) => {
    albumGenres.push(dice.chance(37) ? 1 : dice.number(2, GENRES.length));
    return [id, dice.phrase(4), id <= ARTISTS_WITH_ALBUMS ? id : dice.number(1, ARTISTS_WITH_ALBUMS)];
  });
  return { album, albumGenres };
}

function tracks(dice: Dice, albumGenres: readonly number[]): { readonly track: readonly SampleRow[]; readonly prices: readonly string[] } {
  const prices: string[] = [];
  const name = (): string => `${dice.one(FIRST_NAMES)} ${dice.one(LAST_NAMES)}`;
  const track = rows('track', COUNT.track, (id) => {
    const albumId = id <= COUNT.album ? id : dice.number(1, COUNT.album);
    const composer = dice.chance(28) ? null : `${name()}, ${name()}`;
    const price = dice.chance(94) ? '0.99' : '1.99';
    prices.push(price);
    const media = dice.chance(86) ? 1 : dice.number(2, MEDIA_TYPES.length);
    const genreId = albumGenres[albumId - 1] as number;
    return [id, dice.phrase(5), albumId, media, genreId, composer, dice.number(60_000, 600_000), dice.number(1e6, 2e7), price];
  });
  return { track, prices };
}

function playlistTracks(dice: Dice): readonly SampleRow[] {
  const pairs = new Map<number, readonly [number, number]>();
  while (pairs.size < COUNT.playlistTrack) {
    const playlistId = dice.chance(75) ? dice.one([1, 5, 8]) : dice.number(1, COUNT.playlist);
    const trackId = dice.number(1, COUNT.track);
    pairs.set(playlistId * 10_000 + trackId, [playlistId, trackId]);
  }
  const list = [...pairs.values()];
  return rows('playlist_track', COUNT.playlistTrack, (id) => list[id - 1] as readonly [number, number]);
}

/** @returns the rows, and the total of each invoice in cents */
function invoiceLines(
  dice: Dice,
  prices: readonly string[],
): { readonly invoiceLine: readonly SampleRow[]; readonly cents: readonly number[] } {
  const cents = new Array<number>(COUNT.invoice).fill(0);
  const invoiceLine = rows('invoice_line', COUNT.line, (id) => {
    const invoiceId = id <= COUNT.invoice ? id : dice.number(1, COUNT.invoice);
    const trackId = dice.number(1, COUNT.track);
    const price = prices[trackId - 1] as string;
    cents[invoiceId - 1] = (cents[invoiceId - 1] ?? 0) + Math.round(Number(price) * 100);
    return [id, invoiceId, trackId, price, 1];
  });
  return { invoiceLine, cents };
}

function invoices(dice: Dice, places: readonly City[], cents: readonly number[]): readonly SampleRow[] {
  return rows('invoice', COUNT.invoice, (id) => {
    const customerId = dice.number(1, COUNT.customer);
    const [city, country] = places[customerId - 1] as City;
    return [id, customerId, dice.day(2021, 2025), city, country, ((cents[id - 1] ?? 0) / 100).toFixed(2)];
  });
}

/** Random values that are the same for the same seed. */
class Dice {
  readonly #random: ReturnType<typeof createRandom>;

  constructor(seed: number) {
    this.#random = createRandom(seed);
  }

  one<T>(list: readonly T[]): T {
    return list[this.#random.below(list.length)] as T;
  }

  phrase(most: number): string {
    return Array.from({ length: 1 + this.#random.below(most) }, () => this.one(WORDS)).join(' ');
  }

  number(least: number, most: number): number {
    return least + this.#random.below(most - least + 1);
  }

  chance(percent: number): boolean {
    return this.#random.below(100) < percent;
  }

  day(from: number, until: number): string {
    const year = this.number(from, until);
    const [month, day] = [this.number(1, 12), this.number(1, 28)].map((part) => String(part).padStart(2, '0'));
    return `${year}-${month}-${day}T00:00:00`;
  }

  phone(): string {
    return `+${this.number(1, 99)} ${this.number(100, 999)} ${this.number(1000, 9999)}`;
  }
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
