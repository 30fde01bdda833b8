import { Check } from './fields.tsx';

interface SeveralProps<Value extends string> {
  label: string;
  options: readonly Value[];
  chosen: readonly Value[];
  onChange(chosen: Value[]): void;
  hint?: string;
}

/** Shows checkboxes to choose any of a few values. The values keep the order of the options. */
export function Several<Value extends string>({ label, options, chosen, onChange, hint }: SeveralProps<Value>) {
  return (
    <fieldset className="checks">
      <legend className="label">{label}</legend>
      {options.map((option) => (
        <Check
          key={option}
          label={option}
          value={chosen.includes(option)}
          onChange={(isChosen) => onChange(options.filter((one) => (one === option ? isChosen : chosen.includes(one))))}
        />
      ))}
      {hint !== undefined && <p className="hint">{hint}</p>}
    </fieldset>
  );
}
