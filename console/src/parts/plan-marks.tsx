import { Icon } from './icon.tsx';

/** Bar for the part that a step has of a plan. @param props.share from 0 to 1 */
export function PlanBar({ share }: { readonly share: number }) {
  return <span class="plan-bar" style={{ width: `${(share * 3.75).toFixed(2)}rem` }} />;
}

export function FullScanBadge() {
  return (
    <span class="badge badge-warn">
      <Icon name="warn" />
      full table scan
    </span>
  );
}
