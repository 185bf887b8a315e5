import { useEffect, useMemo, useRef } from 'preact/hooks';
import { readSchemaDiagram } from '../../api/schema-diagram.ts';
import { useResource } from '../../api/use-resource.ts';
import { download } from '../../browser/clipboard.ts';
import { hrefOf, place, setQuery } from '../../browser/place.ts';
import { type Diagram, type DiagramModel, filterModel, layoutDiagram } from '../../model/diagram.ts';
import { diagramSvg } from '../../model/diagram-svg.ts';
import type { Overview, SourceOverview } from '../../model/overview.ts';
import { Button } from '../../parts/button.tsx';
import { Combobox } from '../../parts/combobox.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { Canvas } from './canvas.tsx';
import { SelectedTable } from './selected-table.tsx';
import { useView } from './use-view.ts';

interface SchemaDiagramProps {
  readonly data: Overview;
  readonly source: SourceOverview;
}

/** The tables of a source and what connects them, as a role sees them. The filters and the selected table are in the address. */
export function SchemaDiagram({ data, source }: SchemaDiagramProps) {
  const { query } = place.value;
  const role = query.get('role') ?? undefined;
  const schema = query.get('schema') ?? undefined;
  const { value, failure, isLoading, reload, stop } = useResource(
    (signal) => readSchemaDiagram(source.name, role, signal),
    JSON.stringify([source.name, role ?? null, data.version]),
    { keeps: true },
  );
  const diagram = useMemo(() => (value === undefined ? undefined : drawn(value, schema)), [value, schema]);
  return (
    <section class="stack fill diagram-page" aria-label="Schema diagram">
      <div class="row">
        <Filter
          name="Role"
          all="All roles"
          value={role}
          values={data.roles}
          onChange={(chosen) => setQuery({ role: chosen, table: undefined })}
        />
        <Filter
          name="Schema"
          all="All schemas"
          value={schema}
          values={[...new Set(source.tables.map((table) => table.schema))].filter((each) => each !== '').sort()}
          onChange={(chosen) => setQuery({ schema: chosen, table: undefined })}
        />
        {diagram !== undefined && (
          <Combobox
            name="Find table"
            placeholder="Find table"
            value=""
            options={diagram.boxes.map(({ id }) => ({ value: id }))}
            strict
            onChange={(id) => setQuery({ table: id })}
          />
        )}
        <span class="grow" />
        {diagram !== undefined && (
          <>
            <span class="muted small number" role="status">
              {diagram.boxes.length} {diagram.boxes.length === 1 ? 'table' : 'tables'}
            </span>
            <Button
              icon="download"
              refusal={diagram.boxes.length === 0 ? 'There are no tables' : undefined}
              onClick={() => download(`${source.name}.svg`, diagramSvg(diagram), 'image/svg+xml')}
            >
              Download SVG
            </Button>
          </>
        )}
      </div>
      {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
      {diagram === undefined && isLoading && <Loading what="the diagram" onStop={stop} />}
      {diagram !== undefined &&
        (diagram.boxes.length === 0 ? (
          <EmptyState
            icon="table"
            title="No tables"
            actions={
              <a class="button" href={hrefOf(['data', source.name])}>
                Tables of {source.name}
              </a>
            }
          >
            {role === undefined ? 'The diagram has the tracked tables of the source.' : `${role} can select from no table.`}
          </EmptyState>
        ) : (
          <Drawing source={source.name} diagram={diagram} />
        ))}
    </section>
  );
}

function drawn(model: DiagramModel, schema: string | undefined): Diagram {
  return layoutDiagram(schema === undefined ? model : filterModel(model, (table) => table.schema === schema));
}

function Drawing({ source, diagram }: { readonly source: string; readonly diagram: Diagram }) {
  const table = place.value.query.get('table');
  const state = useView(diagram);
  const at = diagram.boxes.findIndex(({ id }) => id === table);
  const selected = at < 0 ? undefined : at;
  // Tables from the search and the panel may be out of view.
  const shown = useShown(diagram, selected, state);
  return (
    <div class="diagram-content fill">
      <Canvas label={`Diagram of ${source}`} diagram={diagram} state={state} selected={selected} onSelect={shown.select} />
      {selected !== undefined && (
        <SelectedTable
          source={source}
          diagram={diagram}
          selected={selected}
          onSelect={(index) => setQuery({ table: diagram.boxes[index]?.id })}
          onClose={() => setQuery({ table: undefined })}
        />
      )}
    </div>
  );
}

/** Centres the diagram on a table that was selected outside of it. */
function useShown(diagram: Diagram, selected: number | undefined, { isReady, centreOn }: ReturnType<typeof useView>) {
  const clicked = useRef<number | undefined>(undefined);
  useEffect(() => {
    const box = selected === undefined ? undefined : diagram.boxes[selected];
    if (isReady && box !== undefined && clicked.current !== selected) centreOn(box);
    clicked.current = undefined;
  }, [diagram, selected, isReady]);
  return {
    select(index: number): void {
      clicked.current = index;
      setQuery({ table: diagram.boxes[index]?.id });
    },
  };
}

function Filter({
  name,
  all,
  value,
  values,
  onChange,
}: {
  readonly name: string;
  /** Option without a filter. */
  readonly all: string;
  readonly value: string | undefined;
  readonly values: readonly string[];
  onChange(value: string | undefined): void;
}) {
  return (
    <select
      class="select"
      aria-label={name}
      value={value ?? ''}
      onChange={({ currentTarget: { value: chosen } }) => onChange(chosen === '' ? undefined : chosen)}
    >
      <option value="">{all}</option>
      {values.map((each) => (
        <option key={each} value={each}>
          {each}
        </option>
      ))}
    </select>
  );
}
