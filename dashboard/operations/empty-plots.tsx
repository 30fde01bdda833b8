/** Names the plots that have nothing to show, in one line. */
export function EmptyPlots({ titles }: { titles: string[] }) {
  if (titles.length === 0) return null;
  return <p className="hint">Nothing in this period: {titles.join(', ')}.</p>;
}
