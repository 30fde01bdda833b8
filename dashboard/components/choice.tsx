import { useId } from 'react';

interface ChoiceProps<Value extends string> {
  label: string;
  value: Value;
  /** Values with their labels. */
  options: readonly (readonly [Value, string])[];
  onChange(value: NoInfer<Value>): void;
  /** Fits on one line, for the header of a page. */
  isInline?: boolean;
}

/** Shows a labeled list to choose one of a few values from. */
export function Choice<Value extends string>({
  label,
  value,
  options,
  onChange,
  isInline = false,
}: ChoiceProps<Value>) {
  const id = useId();
  return (
    <div className={isInline ? 'inline-field' : 'field'}>
      <label htmlFor={id} className={isInline ? undefined : 'label'}>
        {label}
      </label>
      <select
        id={id}
        className="input"
        value={value}
        onChange={({ target }) => {
          const chosen = options.find(([name]) => name === target.value);
          if (chosen !== undefined) onChange(chosen[0]);
        }}
      >
        {options.map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
    </div>
  );
}
