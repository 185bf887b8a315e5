/** What a role sees of a remote schema, as its SDL says: a part of the whole, with values that are preset. */
import { Kind, type OperationTypeNode } from 'graphql';
import { atOnce } from '../../util/sliced.ts';
import { checkTypes } from '../check-model.ts';
import type { RemoteModel } from '../model.ts';
import { readRoleDocument, type RoleDocument } from './document.ts';
import { Reasons } from './reasons.ts';
import { roleTypes } from './types.ts';

/** A role may see nothing to query; no type has this name. */
const NO_TYPE = '';

/** The last result by whole schema: an operation checks an SDL before the schema cache reads it, and a large one takes a second. */
const last = new WeakMap<RemoteModel, { readonly sdl: string; readonly model: RemoteModel }>();

/**
 * @param sdl in the server's words
 * @param upstream the whole
 * @throws SvcError parse-failed; validation-failed at `$.args` where the SDL says what the server does not;
 *   remote-schema-error at `$.args` where its types do not fit together
 */
export function roleModel(sdl: string, upstream: RemoteModel): RemoteModel {
  const known = last.get(upstream);
  if (known?.sdl === sdl) return known.model;
  const reasons = new Reasons();
  const document = readRoleDocument(sdl, reasons);
  const types = roleTypes({ model: upstream, types: document.types, reasons });
  const root = (operation: OperationTypeNode): string | null => rootOf(document, operation, upstream, reasons);
  const model: RemoteModel = {
    query: root('query' as OperationTypeNode) ?? NO_TYPE,
    mutation: root('mutation' as OperationTypeNode),
    subscription: root('subscription' as OperationTypeNode),
    types,
  };
  reasons.refuse();
  atOnce(checkTypes(model));
  last.set(upstream, { sdl, model });
  return model;
}

/** Null where the SDL does not declare it. */
function rootOf({ types, roots, hasSchemaBlock }: RoleDocument, operation: OperationTypeNode, upstream: RemoteModel, reasons: Reasons) {
  const name = roots.get(operation);
  if (name === undefined || types.get(name)?.kind !== Kind.OBJECT_TYPE_DEFINITION) return null;
  if (name === upstream[operation]) return name;
  // Without a block it is a type that only happens to be called so.
  if (hasSchemaBlock) reasons.add(`the type "${name}" is not the ${operation} root of the upstream remote schema`);
  return null;
}
