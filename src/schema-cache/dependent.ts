import type { Metadata } from '../metadata/metadata.ts';

export interface Dependent {
  readonly objectId: string;
  /** Text such as `relationship article.author in source "default"`. */
  readonly text: string;
  /** `changed`: stays without the removed fields that it lists; `unchanged`: includes the removed fields by `*`. */
  readonly effect: 'dropped' | 'changed' | 'unchanged';
  readonly remove: (metadata: Metadata) => Metadata;
}
