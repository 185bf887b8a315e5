import { useMutation } from '@apollo/client/react';
import { type FormEvent, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { messageOf } from './api.ts';
import type { TaskFieldsFragment } from './gql/graphql.ts';
import { CHANGE_TASK } from './operations.ts';

interface Props {
  readonly task: TaskFieldsFragment;
  /** Called with a message to show, or with an empty text to remove it. */
  onProblem(problem: string): void;
}

export function TaskRow({ task, onProblem }: Props) {
  const [isRenaming, setRenaming] = useState(false);
  const renameButton = useRef<HTMLButtonElement>(null);
  const [changeTask] = useMutation(CHANGE_TASK);

  async function change(changes: { title?: string; is_done?: boolean }): Promise<void> {
    onProblem('');
    try {
      const { data } = await changeTask({
        variables: { id: task.id, changes },
        // Shown at once, and taken back when the answer arrives: then the cache has the row of the answer, or the old one after an error.
        optimisticResponse: { update_task_by_pk: { ...task, ...changes } },
      });
      if (data?.update_task_by_pk == null) onProblem('The task does not exist any more.');
    } catch (failure) {
      onProblem(`The change was not saved: ${messageOf(failure)}`);
    }
  }

  function stopRenaming(): void {
    flushSync(() => setRenaming(false));
    renameButton.current?.focus();
  }

  function rename(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const title = String(new FormData(event.currentTarget).get('title'));
    stopRenaming();
    void change({ title });
  }

  if (isRenaming) {
    return (
      <li>
        <form onSubmit={rename} onKeyDown={(event) => event.key === 'Escape' && stopRenaming()}>
          <input name="title" aria-label="Title" defaultValue={task.title} required ref={(input) => input?.focus()} />
          <button type="submit">Save</button>
          <button type="button" onClick={stopRenaming}>
            Cancel
          </button>
        </form>
      </li>
    );
  }
  return (
    <li>
      <label>
        <input type="checkbox" checked={task.is_done} onChange={(event) => void change({ is_done: event.target.checked })} />
        <span>{task.title}</span>
      </label>
      <small>{task.author?.name}</small>
      <button type="button" ref={renameButton} aria-label={`Rename ${task.title}`} onClick={() => setRenaming(true)}>
        Rename
      </button>
    </li>
  );
}
