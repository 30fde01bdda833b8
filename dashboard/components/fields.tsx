import { createContext, use, useId, type ReactNode } from 'react';
import { Checkbox, FieldError, Input, Label, Text, TextArea, TextField } from 'react-aria-components';
import { messageOf } from '../http/client.ts';
import { fieldProblemOf } from '../http/field-problem.ts';

/** Error of the surrounding form, which may be about one of its fields. */
export const FormError = createContext<unknown>(null);

interface FieldProps {
  label: string;
  /** Path of the field in the body of the request. */
  name?: string;
  value: string;
  onChange(value: string): void;
  hint?: ReactNode;
  placeholder?: string;
  isRequired?: boolean;
  isCode?: boolean;
  /** Number of lines; a single line if absent. */
  rows?: number;
  type?: 'text' | 'password' | 'number' | 'url';
}

/** Shows a labeled field of a form. */
export function Field({ label, hint, placeholder, isCode = false, rows, type = 'text', ...field }: FieldProps) {
  const error = use(FormError);
  const problem = field.name === undefined ? null : fieldProblemOf(error, field.name);
  const problemId = useId();
  const input = {
    className: isCode ? 'input code' : 'input',
    placeholder,
    spellCheck: !isCode,
    // React Aria's own would keep the form from being sent again
    ...(problem !== null && { 'aria-invalid': true }),
  };
  return (
    <TextField className="field" type={type} {...field} aria-describedby={problem === null ? undefined : problemId}>
      <Label className="label">{label}</Label>
      {rows === undefined ? <Input {...input} autoComplete="off" /> : <TextArea {...input} rows={rows} />}
      {hint !== undefined && (
        <Text slot="description" className="hint">
          {hint}
        </Text>
      )}
      <FieldError className="field-error" />
      {problem !== null && (
        <p id={problemId} className="field-error">
          {problem}
        </p>
      )}
    </TextField>
  );
}

/** Properties of the fields of one draft in a list. */
export interface DraftFieldsProps<Draft> {
  draft: Draft;
  /** Begins the paths of the fields. */
  path: string;
  onChange(changed: Partial<Draft>): void;
}

interface CheckProps {
  label: string;
  value: boolean;
  onChange(value: boolean): void;
}

export function Check({ label, value, onChange }: CheckProps) {
  return (
    <Checkbox className="checkbox" isSelected={value} onChange={onChange}>
      <span className="box" aria-hidden="true" />
      {label}
    </Checkbox>
  );
}

/** Shows an error with the API's message. */
export function Problem({ error }: { error: unknown }) {
  if (error === null || error === undefined) return null;
  return (
    <p className="field-error" role="alert">
      {messageOf(error)}
    </p>
  );
}

/** Returns what `Field`, `Check` and `Choice` need to show and change a value of a draft, by its name below a path. */
export function fieldsOf<Draft extends object>(draft: Draft, onChange: (changed: Partial<Draft>) => void, path = '') {
  return <Name extends keyof Draft & string>(name: Name) => ({
    name: `${path}${name}`,
    value: draft[name],
    onChange(value: Draft[Name]) {
      const changed: Partial<Draft> = {};
      changed[name] = value;
      onChange(changed);
    },
  });
}

/** Returns the number of a field; null when it is empty. */
export function amountOf(text: string): number | null {
  return text.trim() === '' ? null : Number(text);
}

/** Returns the lines of a field that holds a list. */
export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
