/** Reads the text of a request: chooses the operation and collects the fragments. */
import { type DocumentNode, type FragmentDefinitionNode, GraphQLError, Kind, type OperationDefinitionNode, parse } from 'graphql';
import { SvcError, type TextLocation } from '../errors/svc-error.ts';
import { at, ROOT } from '../util/path.ts';
import { scanDocument } from './document/scan.ts';

/** The operations and fragments of a text. */
export interface Definitions {
  readonly operations: readonly OperationDefinitionNode[];
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** Number of tokens in the text. */
  readonly tokens: number;
}

export interface OperationDocument {
  readonly operation: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
}

/**
 * @param operationName if null, the document must have exactly one operation
 * @throws SvcError validation-failed, parse-failed
 */
export function readDocument(
  query: string,
  operationName: string | null,
  maxTokens: number,
): OperationDocument & Pick<Definitions, 'tokens'> {
  const { operations, fragments, tokens } = readDefinitions(query, maxTokens);
  return { operation: chooseOperation(operations, operationName), fragments, tokens };
}

/** @throws SvcError validation-failed, parse-failed */
export function readDefinitions(query: string, maxTokens: number): Definitions {
  const operations: OperationDefinitionNode[] = [];
  const fragments = new Map<string, FragmentDefinitionNode>();
  const { definitions, tokenCount = 0 } = parseDocument(query, maxTokens);
  for (const definition of definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION) operations.push(definition);
    else if (definition.kind === Kind.FRAGMENT_DEFINITION) {
      const name = definition.name.value;
      if (fragments.has(name)) throw new SvcError('parse-failed', `multiple definitions for fragment "${name}"`);
      fragments.set(name, definition);
    } else throw notAQuery('the document defines types');
  }
  rejectDuplicateNames(operations);
  return { operations, fragments, tokens: tokenCount };
}

/** @throws SvcError validation-failed */
export function parseDocument(query: string, maxTokens: number): DocumentNode {
  scanDocument(query, maxTokens);
  try {
    return parse(query, { noLocation: true, maxTokens });
  } catch (error) {
    if (error instanceof GraphQLError) throw notAQuery(error.message.replace(/^Syntax Error: /, ''), error.locations);
    // The parser recurses, so a document may be nested deeper than the stack allows.
    if (error instanceof RangeError) throw notAQuery('the document is nested too deeply');
    throw error;
  }
}

function notAQuery(reason: string, locations?: readonly TextLocation[]): SvcError {
  return new SvcError('validation-failed', 'not a valid graphql query', {
    path: at(ROOT, 'query'),
    explanation: reason,
    ...(locations === undefined ? {} : { locations }),
  });
}

function rejectDuplicateNames(operations: readonly OperationDefinitionNode[]): void {
  const names = new Set<string>();
  for (const { name } of operations) {
    if (name === undefined) continue;
    if (names.has(name.value)) throw new SvcError('parse-failed', `multiple definitions for operation "${name.value}"`);
    names.add(name.value);
  }
}

function chooseOperation(operations: readonly OperationDefinitionNode[], operationName: string | null): OperationDefinitionNode {
  if (operationName === null) {
    const [only] = operations;
    if (only === undefined || operations.length > 1) {
      throw new SvcError(
        'validation-failed',
        'exactly one operation has to be present in the document when operationName is not specified',
      );
    }
    return only;
  }
  if (operations.some((operation) => operation.name === undefined)) {
    throw new SvcError('validation-failed', 'operationName cannot be used when an anonymous operation exists in the document');
  }
  const chosen = operations.find((operation) => operation.name?.value === operationName);
  if (chosen === undefined) throw new SvcError('validation-failed', `no such operation found in the document: "${operationName}"`);
  return chosen;
}
