/** What the fields of a role schema mean: one closed union, so that whoever reads a meaning knows what there is. */
import type { CatalogType } from '../catalog/catalog.ts';
import { invariant } from '../errors/svc-error.ts';
import type { ActionOutput, ActionResultPart } from '../ir/action.ts';
import type { MutationField } from '../ir/mutation.ts';
import type { Read } from '../ir/read.ts';
import type { RemoteOutput } from '../ir/remote.ts';
import type { AggregateField, AggregateItem, Field } from '../ir/select.ts';
import type { MetaRead } from './introspection/meta-types.ts';
import type { CollectedField, MetaMeaning, RootMeaning } from './translation.ts';
import type { OutputField } from './types.ts';

export type FieldMeaning =
  | RootMeaning
  /** `__schema`, `__type`, `_service` and `_entities`. */
  | MetaMeaning
  /** A field of an introspection type. */
  | MetaRead
  /** A key of a row's object. */
  | { readonly kind: 'row-field'; toField(field: CollectedField): Field }
  /** `aggregate` and `nodes`. */
  | { readonly kind: 'aggregate-part'; toPart(field: CollectedField): AggregateField }
  /** `count`, `sum` and so on. */
  | { readonly kind: 'aggregate-item'; toItem(field: CollectedField): AggregateItem }
  /** What is summed up. */
  | { readonly kind: 'operand'; readonly read: Read; readonly columnType: CatalogType }
  /** `affected_rows` and `returning`. */
  | { readonly kind: 'mutation-result'; toField(field: CollectedField): MutationField }
  /** A field of a type of a remote schema. */
  | { readonly kind: 'remote-field'; toOutput(field: CollectedField): RemoteOutput }
  /** A field of the answer of an action. */
  | { readonly kind: 'action-field'; toOutput(field: CollectedField): ActionOutput }
  /** A field of what is told of an asynchronous call. */
  | { readonly kind: 'action-result'; toPart(field: CollectedField): ActionResultPart }
  /** Answered by the field around it. */
  | { readonly kind: 'inner' };

/** The meaning of a field that is known to be of one kind. */
export function meaningOf<K extends FieldMeaning['kind']>(field: OutputField, kind: K): Extract<FieldMeaning, { kind: K }> {
  const { meaning } = field;
  invariant(meaning.kind === kind, `the field ${field.name} is a ${kind}`);
  return meaning as Extract<FieldMeaning, { kind: K }>;
}
