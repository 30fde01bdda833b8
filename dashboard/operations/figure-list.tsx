/** Shows figures in large, each with its name and a note. */
export function FigureList({
  figures,
}: {
  figures: readonly (readonly [name: string, value: string, note: string])[];
}) {
  return (
    <dl className="figures">
      {figures.map(([name, value, note]) => (
        <div key={name} className="panel">
          <dt>{name}</dt>
          <dd>{value}</dd>
          <dd className="hint">{note}</dd>
        </div>
      ))}
    </dl>
  );
}
