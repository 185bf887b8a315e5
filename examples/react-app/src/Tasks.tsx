import { useMutation, useQuery } from '@apollo/client/react';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { messageOf } from './api.ts';
import { ADD_TASK, LIVE_TASKS, TASKS } from './operations.ts';
import { TaskRow } from './TaskRow.tsx';

const PAGE_SIZE = 10;

export function Tasks() {
  /** Last ids of the pages before the one that is shown. */
  const [cursors, setCursors] = useState<readonly number[]>([]);
  const [problem, setProblem] = useState('');
  const heading = useRef<HTMLHeadingElement>(null);

  const before = cursors.at(-1);
  // One row more than a page has: it says whether there is a next page.
  const variables = { where: before === undefined ? {} : { id: { _lt: before } }, limit: PAGE_SIZE + 1 };
  const { data, error, subscribeToMore } = useQuery(TASKS, { variables });
  const [addTask] = useMutation(ADD_TASK);

  // Each answer of the live query is a whole page, and replaces the one in the cache.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `variables` changes with `before` only
  useEffect(
    () =>
      subscribeToMore({
        document: LIVE_TASKS,
        variables,
        updateQuery: (_, { subscriptionData }) => subscriptionData.data,
        onError: (failure) => setProblem(`Live updates have stopped: ${failure.message}`),
      }),
    [subscribeToMore, before],
  );

  async function add(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const form = event.currentTarget;
    setProblem('');
    try {
      await addTask({ variables: { title: String(new FormData(form).get('title')) } });
      form.reset();
      setCursors([]);
    } catch (failure) {
      setProblem(`The task was not added: ${messageOf(failure)}`);
    }
  }

  function turnTo(page: readonly number[]): void {
    setCursors(page);
    heading.current?.focus();
  }

  const rows = data?.task ?? [];
  const shown = rows.slice(0, PAGE_SIZE);
  const last = shown.at(-1);
  return (
    <main>
      <h1 ref={heading} tabIndex={-1}>
        Tasks, page {cursors.length + 1}
      </h1>
      <form className="add" onSubmit={add}>
        <label>
          New task
          <input name="title" required autoComplete="off" />
        </label>
        <button type="submit">Add</button>
      </form>
      {problem !== '' && <p role="alert">{problem}</p>}
      {error && <p role="alert">The tasks cannot be loaded: {error.message}</p>}
      <ul>
        {shown.map((task) => (
          <TaskRow key={task.id} task={task} onProblem={setProblem} />
        ))}
      </ul>
      <nav aria-label="Pages">
        <button type="button" disabled={cursors.length === 0} onClick={() => turnTo(cursors.slice(0, -1))}>
          Newer
        </button>
        <button type="button" disabled={rows.length <= PAGE_SIZE} onClick={() => last && turnTo([...cursors, last.id])}>
          Older
        </button>
      </nav>
    </main>
  );
}
