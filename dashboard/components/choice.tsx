import { useId } from 'react';

interface ChoiceProps<Value extends string> {
  label: string;
  value: Value;
  /** What can be chosen, with its words. */
  options: readonly (readonly [Value, string])[];
  onChange(value: NoInfer<Value>): void;
  /** In one line, for the head of a page. */
  isInline?: boolean;
}

/** One of a few, chosen from a labelled list. */
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
