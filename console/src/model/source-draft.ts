/** A source that is to be connected, as the form has it. */
import { isObject, type Json, type JsonObject, parseJson } from './json.ts';
import { wholeNumberOf } from './whole-number.ts';

export interface SourceDraft {
  readonly name: string;
  readonly kind: string;
  /** Whether the address, or the key, is in a variable of the service. */
  readonly isInEnvironment: boolean;
  readonly variable: string;
  /** Or the key of a service account. */
  readonly address: string;
  readonly warehouse: WarehouseDraft;
}

/** What is said of a project whose tables are asked for over HTTP. */
export interface WarehouseDraft {
  readonly project: string;
  /** With commas between. */
  readonly datasets: string;
  readonly location: string;
  /** Empty: what the service has by itself. */
  readonly rows: string;
  readonly bytes: string;
  readonly endpoint: string;
}

export const NO_SOURCE: SourceDraft = {
  name: '',
  kind: 'pg',
  isInEnvironment: true,
  variable: '',
  address: '',
  warehouse: { project: '', datasets: '', location: '', rows: '', bytes: '', endpoint: '' },
};

/** Kinds whose sources are projects, with a key, rather than databases with an address. */
export function isWarehouse({ kind }: Pick<SourceDraft, 'kind'>): boolean {
  return kind === 'dwh';
}

/** What `…_add_source` takes. @throws Error with what is wrong */
export function sourceArgs(draft: SourceDraft): JsonObject {
  return { name: draft.name.trim(), configuration: isWarehouse(draft) ? warehouseOf(draft) : databaseOf(draft) };
}

function databaseOf({ kind, isInEnvironment, variable, address }: SourceDraft): JsonObject {
  const where: Json = isInEnvironment ? { from_env: variable.trim() } : address.trim();
  return { connection_info: kind === 'dbb' ? { connection_string: where } : { database_url: where } };
}

function warehouseOf({ isInEnvironment, variable, address, warehouse }: SourceDraft): JsonObject {
  const datasets = warehouse.datasets
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const { rows, bytes } = warehouse;
  return {
    service_account: isInEnvironment ? { from_env: variable.trim() } : keyOf(address),
    project_id: warehouse.project.trim(),
    datasets,
    ...(warehouse.location.trim() === '' ? {} : { location: warehouse.location.trim() }),
    ...(rows.trim() === '' ? {} : { global_select_limit: wholeNumberOf(rows, 'The number of rows') }),
    ...(bytes.trim() === '' ? {} : { maximum_bytes_billed: wholeNumberOf(bytes, 'The number of bytes') }),
    ...(warehouse.endpoint.trim() === '' ? {} : { api_endpoint: warehouse.endpoint.trim() }),
  };
}

/** A key as Google gives it out, or a text that stands for one. */
function keyOf(text: string): Json {
  try {
    const key = parseJson(text);
    if (isObject(key)) return key;
  } catch {
    // A template, such as {{KEY}}; what is neither is refused by the service.
  }
  return text.trim();
}
