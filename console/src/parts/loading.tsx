import { Button } from './button.tsx';

/** Shown after a moment, so that quick reads do not flicker. The stop button appears after two seconds. */
export function Loading({ what, onStop }: { readonly what: string; onStop?: () => void }) {
  return (
    <div role="status" aria-label={`Loading ${what}`}>
      <div class="skeleton">
        <span />
        <span />
        <span />
        <span />
      </div>
      {onStop !== undefined && (
        <div class="appear-later">
          <Button small icon="stop" onClick={onStop}>
            Stop
          </Button>
        </div>
      )}
    </div>
  );
}
