/** The part of a remote schema that a role's SDL permits, with preset values. */
import { Kind, type OperationTypeNode } from 'graphql';
import { runSync } from '../../util/cooperative.ts';
import { checkTypes } from '../check-model.ts';
import type { RemoteModel } from '../model.ts';
import { readRoleDocument, type RoleDocument } from './document.ts';
import { Reasons } from './reasons.ts';
import { roleTypes } from './types.ts';

/** Name of the query type for a role that may not query anything; no type has this name. */
const NO_TYPE = '';

/** Last result per schema: an operation checks an SDL before the schema cache reads it, and a large one takes a second. */
const last = new WeakMap<RemoteModel, { readonly sdl: string; readonly model: RemoteModel }>();

/**
 * @param sdl in the server's names
 * @param upstream the whole schema
 * @throws SvcError parse-failed; validation-failed at `$.args` if the SDL does not match the server's schema; remote-schema-error at
 *   `$.args` if its types do not fit together
 */
export function roleModel(sdl: string, upstream: RemoteModel): RemoteModel {
  const cached = last.get(upstream);
  if (cached?.sdl === sdl) return cached.model;
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
  runSync(checkTypes(model));
  last.set(upstream, { sdl, model });
  return model;
}

/** Returns `null` if the SDL does not declare the root type. */
function rootOf({ types, roots, hasSchemaBlock }: RoleDocument, operation: OperationTypeNode, upstream: RemoteModel, reasons: Reasons) {
  const name = roots.get(operation);
  if (name === undefined || types.get(name)?.kind !== Kind.OBJECT_TYPE_DEFINITION) return null;
  if (name === upstream[operation]) return name;
  // Without a schema block, the type is an ordinary one that happens to have this name.
  if (hasSchemaBlock) reasons.add(`the type "${name}" is not the ${operation} root of the upstream remote schema`);
  return null;
}
