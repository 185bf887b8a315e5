/** Translates an operation: walks the roots, including namespaces, and builds the shape of the response. */
import { SvcError } from '../errors/svc-error.ts';
import type { SelectRoot } from '../ir/select.ts';
import { printJson } from '../util/json.ts';
import { at, ROOT } from '../util/path.ts';
import { MULTIPLE_ROOTS } from './directives.ts';
import { checkIntrospectionRoots } from './introspection/roots.ts';
import { collectFields, type SelectionContext, type SelectionParent } from './selection.ts';
import type { OperationDocument } from './document.ts';
import type { PreparedOperation, TranslatedOperation, TranslatedRoot, UnmatchedType } from './translation.ts';
import type { AddRoot, CollectedField, ResponseNode } from './types.ts';

export interface TranslationRules {
  /** The role, if its introspection is disabled. */
  readonly introspectionDisabledRole: string | null;
  readonly multipleSubscriptionRoots: boolean;
}

/** @throws SvcError with the path of the error */
export function translateOperation(
  kind: PreparedOperation['kind'],
  { operation }: OperationDocument,
  parent: SelectionParent,
  context: SelectionContext,
  { introspectionDisabledRole: blindRole, multipleSubscriptionRoots }: TranslationRules,
): TranslatedOperation {
  const shape = new ResponseShape(blindRole);
  const fields = collectFields(context, [operation.selectionSet], parent, at(ROOT, 'selectionSet'));
  const isMultiple = multipleSubscriptionRoots || operation.directives?.some(({ name }) => name.value === MULTIPLE_ROOTS) === true;
  if (kind === 'subscription') checkSubscription(fields, parent, isMultiple);
  checkIntrospectionRoots(fields);
  const response = shape.object(fields);
  const { roots } = shape;
  if (kind === 'subscription') checkStreams(roots);
  const [join] = kind === 'subscription' ? context.joins.list() : [];
  // The result of a call is read once; its joins are then run as for a query.
  if (join !== undefined && roots[0]?.kind !== 'action')
    throw new SvcError('not-supported', 'Remote relationships are not allowed in subscriptions', { path: join.path });
  return {
    kind,
    name: operation.name?.value ?? null,
    response,
    roots,
    joins: context.joins.list(),
    constraints: context.constraints.list(),
    reusable: context.constraints.isComplete(),
    parts: context.constraints.parts(),
    unmatchedTypes: unmatchedTypes(context),
  };
}

/** Collects the roots of an operation, and makes the shape of the response around them. */
class ResponseShape {
  readonly roots: TranslatedRoot[] = [];
  readonly #blindRole: string | null;

  constructor(blindRole: string | null) {
    this.#blindRole = blindRole;
  }

  readonly #addRoot: AddRoot = (source, field, make) => {
    const index = this.roots.length;
    this.roots.push({ kind: 'source', source, path: field.path, responseKey: field.responseKey, root: make(String(index)) });
    return index;
  };

  object(fields: readonly CollectedField[]): ResponseNode {
    return { kind: 'object', entries: fields.map((field) => [field.responseKey, this.#respond(field)] as const) };
  }

  #respond(field: CollectedField): ResponseNode {
    const { path, responseKey } = field;
    if (field.field === null) return { kind: 'json', text: JSON.stringify(field.typeName) };
    const { meaning } = field.field;
    switch (meaning.kind) {
      case 'meta':
        if (meaning.showsSchema && this.#blindRole !== null) {
          throw new SvcError('not-supported', `introspection is disabled for role: "${this.#blindRole}"`, { path });
        }
        return meaning.respond(field, this.#addRoot);
      case 'constant':
        return { kind: 'json', text: printJson(meaning.json) };
      case 'namespace':
        return this.object(field.select(meaning.type));
      case 'select':
      case 'mutation':
        return { kind: 'root', index: this.#addRoot(meaning.source, field, (alias) => meaning.translate(field, alias)) };
      case 'remote':
        this.roots.push({ kind: 'remote', remote: meaning.remote, path, responseKey, root: meaning.translate(field) });
        return { kind: 'root', index: this.roots.length - 1 };
      case 'action':
        this.roots.push({ kind: 'action', path, responseKey, root: meaning.translate(field) });
        return { kind: 'root', index: this.roots.length - 1 };
      default:
        throw new Error(`invariant: ${field.name} is no root field`);
    }
  }
}

function unmatchedTypes({ fragmentTypes }: SelectionContext): readonly UnmatchedType[] {
  const unmatched: UnmatchedType[] = [];
  for (const [name, path] of fragmentTypes) if (path !== null) unmatched.push({ name, path });
  return unmatched;
}

function checkSubscription(fields: readonly CollectedField[], parent: SelectionParent, isMultiple: boolean): void {
  const [only] = fields;
  if (only === undefined || (fields.length > 1 && !isMultiple)) {
    throw new SvcError('validation-failed', 'subscriptions must select one top level field');
  }
  if (fields.some(({ field, name }) => field === null || parent.metaFields?.has(name) === true)) {
    throw new SvcError('not-supported', 'Introspection at root field level is not supported over subscriptions');
  }
}

function checkStreams(roots: readonly TranslatedRoot[]): void {
  if (roots.length < 2) return;
  const streams = roots.filter(({ kind, root }) => kind === 'source' && (root as SelectRoot).cursor !== undefined).length;
  if (streams === roots.length) {
    throw new SvcError('not-supported', 'exactly one root field is allowed for streaming subscriptions');
  }
  if (streams > 0) {
    throw new SvcError('not-supported', 'streaming and livequery subscriptions cannot be executed in the same subscription');
  }
}
