// The queries of `bench/workloads.json` in the language of each server, and its answers in the shape of ours. An adapter returns null for a
// query that its server cannot express in one request.
import { graphqlRequest } from '../load.mjs';

/** Root field of the answer to each query. */
const ROOTS = {
  simple: 'customer',
  by_pk: 'album_by_pk',
  nested_list: 'album',
  nested_offset: 'album',
  filtered: 'playlist',
  filtered_large: 'playlist',
  big_list: 'track',
  aggregate: 'track_aggregate',
  deep: 'artist',
  update: 'update_track_by_pk',
  insert: 'insert_invoice_line_one',
};

/** The GraphQL of svc, which Hasura and the ideal server accept as it is. */
const own = {
  phrase: (_name, workload, variables) => graphqlRequest(workload.query, variables),
  read: (_name, answer) => answer.data,
};

const FILTERED = `query Filtered($genre: String!, $track_lim: Int = 1000) {
  playlist: playlists(orderBy: [NAME_ASC], filter: {playlistTracks: {some: {track: {genre: {name: {equalTo: $genre}}}}}}) {
    name
    tracks_of_genre: playlistTracks(filter: {track: {genre: {name: {equalTo: $genre}}}}, first: $track_lim) {
      track { name album { title artist { name } } media_type: mediaType { name } }
    }
  }
}`;

/** Aliases give the answers the names of ours, so that all servers send about the same bytes. */
const POSTGRAPHILE = {
  simple: 'query Simple { customer: customers { email } }',
  by_pk: 'query ByPk($id: Int!) { album_by_pk: album(albumId: $id) { album_id: albumId title artist_id: artistId } }',
  nested_list: `query Nested($after: Int!) {
    album: albums(first: 10, filter: {albumId: {greaterThan: $after}}, orderBy: [ALBUM_ID_ASC]) {
      album_id: albumId title artist { name } tracks(first: 10, orderBy: [TRACK_ID_ASC]) { track_id: trackId name milliseconds }
    }
  }`,
  nested_offset: `query NestedOffset($offset: Int!) {
    album: albums(first: 10, offset: $offset, orderBy: [ALBUM_ID_ASC]) {
      album_id: albumId title artist { name } tracks(first: 10, orderBy: [TRACK_ID_ASC]) { track_id: trackId name milliseconds }
    }
  }`,
  filtered: FILTERED,
  filtered_large: FILTERED,
  big_list: `query Big {
    track: tracks(orderBy: [TRACK_ID_ASC]) {
      track_id: trackId name composer milliseconds bytes unit_price: unitPrice album { title }
    }
  }`,
  aggregate: `query Agg {
    track_aggregate: tracksConnection(condition: {genreId: 1}) {
      count: totalCount aggregates { avg: average { milliseconds } max { bytes } } nodes { track_id: trackId name }
    }
  }`,
  deep: `query Deep($after: Int!) {
    artist: artists(first: 20, filter: {artistId: {greaterThan: $after}}, orderBy: [ARTIST_ID_ASC]) {
      name albums { title tracks { name genre { name } } }
    }
  }`,
  update: `mutation Update($id: Int!, $price: BigFloat!) {
    update_track_by_pk: updateTrack(input: {trackId: $id, patch: {unitPrice: $price}}) { track { track_id: trackId unit_price: unitPrice } }
  }`,
  insert: `mutation Insert($invoice: Int!, $track: Int!) {
    insert_invoice_line_one: createInvoiceLine(input: {invoiceLine: {invoiceId: $invoice, trackId: $track, unitPrice: "1", quantity: 1}}) {
      invoiceLine { invoice_line_id: invoiceLineId track { name } }
    }
  }`,
};

/** The data of root fields that PostGraphile wraps in more fields than ours. */
const POSTGRAPHILE_SHAPES = {
  aggregate: ({ count, aggregates, nodes }) => ({ aggregate: { count, ...aggregates }, nodes }),
  update: ({ track }) => track,
  insert: ({ invoiceLine }) => invoiceLine,
};

const postgraphile = {
  phrase: (name, _workload, variables) =>
    POSTGRAPHILE[name] === undefined ? null : graphqlRequest(POSTGRAPHILE[name].replaceAll(/\s+/g, ' '), variables),
  read(name, { data }) {
    const root = ROOTS[name];
    const value = data?.[root];
    const shape = POSTGRAPHILE_SHAPES[name];
    return value && shape ? { ...data, [root]: shape(value) } : data;
  },
};

const TRACKS = 'album_id,title,artist(name),tracks:track(track_id,name,milliseconds)';
const ALBUMS = { select: TRACKS, order: 'album_id.asc', limit: 10, 'tracks.order': 'track_id.asc', 'tracks.limit': 10 };
const filteredRows = ({ genre, track_lim }) => [
  'playlist',
  {
    select: 'name,tracks_of_genre:playlist_track!inner(track!inner(name,album(title,artist(name)),media_type(name),genre!inner()))',
    'tracks_of_genre.track.genre.name': `eq.${genre}`,
    'tracks_of_genre.limit': track_lim,
    order: 'name.asc',
  },
];

/** Table and parameters of each read. An aggregate and its rows are two requests, so `aggregate` is missing. */
const POSTGREST_READS = {
  simple: () => ['customer', { select: 'email' }],
  by_pk: ({ id }) => ['album', { select: 'album_id,title,artist_id', album_id: `eq.${id}` }],
  nested_list: ({ after }) => ['album', { ...ALBUMS, album_id: `gt.${after}` }],
  nested_offset: ({ offset }) => ['album', { ...ALBUMS, offset }],
  filtered: filteredRows,
  filtered_large: filteredRows,
  big_list: () => ['track', { select: 'track_id,name,composer,milliseconds,bytes,unit_price,album(title)', order: 'track_id.asc' }],
  deep: ({ after }) => [
    'artist',
    { select: 'name,albums:album(title,tracks:track(name,genre(name)))', artist_id: `gt.${after}`, order: 'artist_id.asc', limit: 20 },
  ],
};
const POSTGREST_WRITES = {
  update: ({ id, price }) => ['PATCH', 'track', { track_id: `eq.${id}`, select: 'track_id,unit_price' }, { unit_price: price }],
  insert: ({ invoice, track }) => [
    'POST',
    'invoice_line',
    { select: 'invoice_line_id,track(name)' },
    { invoice_id: invoice, track_id: track, unit_price: 1, quantity: 1 },
  ],
};
const SINGLE_ROWS = new Set(['by_pk', 'update', 'insert']);

const postgrest = {
  phrase(name, _workload, variables) {
    const accept = SINGLE_ROWS.has(name) ? 'application/vnd.pgrst.object+json' : 'application/json';
    const path = (table, parameters) => `/${table}?${new URLSearchParams(parameters)}`;
    if (POSTGREST_READS[name] !== undefined) {
      return { method: 'GET', path: path(...POSTGREST_READS[name](variables)), headers: { accept } };
    }
    if (POSTGREST_WRITES[name] === undefined) return null;
    const [method, table, parameters, row] = POSTGREST_WRITES[name](variables);
    return {
      method,
      path: path(table, parameters),
      headers: { accept, 'content-type': 'application/json', prefer: 'return=representation' },
      body: JSON.stringify(row),
    };
  },
  read: (name, answer) => ({ [ROOTS[name]]: answer }),
};

/** Server -> `phrase(query, workload, variables)`, a request or null, and `read(query, answer)`, its data in the shape of ours. */
export const ADAPTERS = { svc: own, ideal: own, hasura: own, postgraphile, postgrest };
