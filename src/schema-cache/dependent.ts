import type { Metadata } from '../metadata/metadata.ts';

export interface Dependent {
  readonly objectId: string;
  /** As in `relationship article.author in source "default"`. */
  readonly text: string;
  /** `changed`: it stays, without what it names of what goes; `kept`: it named that by `*`. */
  readonly becomes: 'dropped' | 'changed' | 'kept';
  readonly remove: (metadata: Metadata) => Metadata;
}
