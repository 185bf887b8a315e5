/** Tags in the statements of a source that identify their operation: `set_query_tags` in docs/reference/metadata-api.md. */
import { bool, type Codec, defaulted, literal, object } from './codec.ts';
import { preserveUnknownKeys } from './preserve-unknown-keys.ts';
import type { WithUnknownKeys } from './unknown-keys.ts';

const FORMATS = ['standard', 'standard_prepended', 'sqlcommenter'] as const;
export type QueryTagsFormat = (typeof FORMATS)[number];

export interface QueryTagsSettings extends WithUnknownKeys {
  readonly disabled: boolean;
  readonly format: QueryTagsFormat;
  /** If false, every statement differs, so none is prepared for the next request. */
  readonly omitRequestId: boolean;
}

/** Defaults of the settings. A source without settings has no tags. */
export const queryTagsFields = {
  disabled: defaulted(bool, () => false),
  format: defaulted<QueryTagsFormat>(literal('QueryTagsFormat', FORMATS), () => 'standard'),
  omitRequestId: defaulted(bool, () => true),
};

export const queryTagsCodec: Codec<QueryTagsSettings> = preserveUnknownKeys(object('QueryTagsConfig', queryTagsFields));
