/** Whether the statements of a source say which operation they are of: `set_query_tags` in docs/reference/metadata-api.md. */
import { bool, type Codec, defaulted, literal, object } from './codec.ts';
import { kept } from './kept.ts';
import type { WithUnknownKeys } from './unknown-keys.ts';

const FORMATS = ['standard', 'standard_prepended', 'sqlcommenter'] as const;
export type QueryTagsFormat = (typeof FORMATS)[number];

export interface QueryTagsSettings extends WithUnknownKeys {
  readonly disabled: boolean;
  readonly format: QueryTagsFormat;
  /** Otherwise no two statements are alike, and none is prepared for the next request. */
  readonly omitRequestId: boolean;
}

/** What a source has that says nothing of it: no tags. */
export const queryTagsFields = {
  disabled: defaulted(bool, () => false),
  format: defaulted<QueryTagsFormat>(literal('QueryTagsFormat', FORMATS), () => 'standard'),
  omitRequestId: defaulted(bool, () => true),
};

export const queryTagsCodec: Codec<QueryTagsSettings> = kept(object('QueryTagsConfig', queryTagsFields));
