import { useState } from 'preact/hooks';
import { type FieldType, readRootType, readType, rootTypes, type SchemaPersona, type SchemaType } from '../../api/types.ts';
import { useResource } from '../../api/use-resource.ts';
import { personaLabel } from '../../model/persona.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Search } from '../../parts/field.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';

/** Maximum number of fields that are listed at once; the filter finds the others. */
const MAX_SHOWN = 100;
const KINDS: Readonly<Record<string, string>> = {
  OBJECT: 'object',
  INPUT_OBJECT: 'input',
  ENUM: 'enum',
  SCALAR: 'scalar',
  INTERFACE: 'interface',
  UNION: 'union',
};

interface OpenType {
  /** Name of a type. */
  onOpen(name: string): void;
}

/** Documentation of the schema, type by type. */
export function DocsPanel({ as }: { readonly as: SchemaPersona }) {
  const [path, setPath] = useState<readonly string[]>([]);
  const [filter, setFilter] = useState('');
  const name = path.at(-1);
  const { value, failure, reload } = useResource(() => readDocs(as, name), JSON.stringify([as, name]));
  const go = (next: readonly string[]): void => {
    setPath(next);
    setFilter('');
  };
  const open = (type: string): void => go([...path.filter((each) => each !== type), type]);
  return (
    <>
      <form
        class="row-tight"
        onSubmit={(event) => {
          event.preventDefault();
          if (name === undefined && filter.trim() !== '') open(filter.trim());
        }}
      >
        {path.length > 0 && <Button small icon="undo" name="Previous type" onClick={() => go(path.slice(0, -1))} />}
        <Search name={name === undefined ? 'Name of a type' : `Filter ${name}`} value={filter} onInput={setFilter} />
      </form>
      {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
      {value === undefined && failure === undefined && <Loading what="the documentation" />}
      {value?.kind === 'roots' && <Roots names={value.names} as={as} onOpen={open} />}
      {value?.kind === 'none' && (
        <EmptyState icon="search" title={`No type ${name}`}>
          The schema of {personaLabel(as)} has no type with this name.
        </EmptyState>
      )}
      {value?.kind === 'type' && <TypeDocs type={value.type} filter={filter} onOpen={open} />}
    </>
  );
}

type Docs =
  | { readonly kind: 'roots'; readonly names: readonly string[] }
  | { readonly kind: 'type'; readonly type: SchemaType }
  | { readonly kind: 'none' };

async function readDocs(as: SchemaPersona, name: string | undefined): Promise<Docs> {
  const roots = Object.values(await rootTypes(as)).filter((each) => each !== undefined);
  if (name === undefined) return { kind: 'roots', names: roots };
  if (roots.includes(name)) {
    const { fields } = await readRootType(as, name);
    const rest = { kind: 'OBJECT', description: '', inputFields: new Map(), enumValues: [], possibleTypes: [] };
    return { kind: 'type', type: { name, fields, ...rest } };
  }
  const type = await readType(as, name);
  return type === undefined ? { kind: 'none' } : { kind: 'type', type };
}

function Roots({ names, as, onOpen }: OpenType & { readonly names: readonly string[]; readonly as: SchemaPersona }) {
  return (
    <div class="stack-tight small">
      <p class="muted">Types of {personaLabel(as)}. Open one, or enter the name of a type above.</p>
      <ul class="stack-tight">
        {names.map((each) => (
          <li key={each}>
            <TypeLink text={each} onOpen={onOpen} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function TypeDocs({ type, filter, onOpen }: OpenType & { readonly type: SchemaType; readonly filter: string }) {
  const { name, kind, description, enumValues, possibleTypes } = type;
  const fields = [...(type.inputFields.size > 0 ? type.inputFields : type.fields).values()];
  const words = filter.toLowerCase();
  const found = fields.filter((each) => `${each.field} ${each.text}`.toLowerCase().includes(words));
  const values = enumValues.filter((each) => each.name.toLowerCase().includes(words));
  return (
    <div class="docs-type stack-tight small" role="region" aria-label={`Documentation of ${name}`} tabIndex={0}>
      <p class="row-tight">
        <strong class="mono break">{name}</strong> <span class="badge">{KINDS[kind] ?? kind}</span>
      </p>
      {description !== '' && <p>{description}</p>}
      {possibleTypes.length > 0 && (
        <p>
          {kind === 'UNION' ? 'One of ' : 'Implemented by '}
          {possibleTypes.map((each) => (
            <span key={each}>
              <TypeLink text={each} onOpen={onOpen} />{' '}
            </span>
          ))}
        </p>
      )}
      <dl class="stack-tight">
        {found.slice(0, MAX_SHOWN).map((each) => (
          <FieldDocs key={each.field} field={each} onOpen={onOpen} />
        ))}
        {values.slice(0, MAX_SHOWN).map((each) => (
          <div key={each.name}>
            <dt class="mono break">{each.name}</dt>
            {each.description !== '' && <dd class="muted">{each.description}</dd>}
          </div>
        ))}
      </dl>
      {found.length + values.length > MAX_SHOWN && (
        <p class="muted">{found.length + values.length - MAX_SHOWN} more. Filter to find them.</p>
      )}
      {fields.length + enumValues.length > 0 && found.length + values.length === 0 && <p class="muted">No matches</p>}
    </div>
  );
}

function FieldDocs({ field, onOpen }: OpenType & { readonly field: FieldType }) {
  const { field: name, text, description, arguments: args } = field;
  return (
    <div>
      <dt class="mono break">
        {name}: <TypeLink text={text} onOpen={onOpen} />
      </dt>
      {description !== '' && <dd class="muted">{description}</dd>}
      {args.length > 0 && (
        <dd>
          <ul class="docs-arguments">
            {args.map((each) => (
              <li key={each.field} class="mono break" title={each.description}>
                {each.field}: <TypeLink text={each.text} onOpen={onOpen} />
              </li>
            ))}
          </ul>
        </dd>
      )}
    </div>
  );
}

function TypeLink({ text, onOpen }: OpenType & { readonly text: string }) {
  return (
    <Button kind="link" class="mono" onClick={() => onOpen(text.replace(/[[\]!]/g, ''))}>
      {text}
    </Button>
  );
}
