import type { ReactNode } from 'react';
import { Button, Checkbox, FieldError, Input, Label, Text, TextArea, TextField } from 'react-aria-components';
import { messageOf } from '../http/client.ts';

interface FieldProps {
  label: string;
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
  const className = isCode ? 'input code' : 'input';
  return (
    <TextField className="field" type={type} {...field}>
      <Label className="label">{label}</Label>
      {rows === undefined ? (
        <Input className={className} placeholder={placeholder} spellCheck={!isCode} autoComplete="off" />
      ) : (
        <TextArea className={className} rows={rows} placeholder={placeholder} spellCheck={!isCode} />
      )}
      {hint !== undefined && (
        <Text slot="description" className="hint">
          {hint}
        </Text>
      )}
      <FieldError className="field-error" />
    </TextField>
  );
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

/** Shows the end of a form: the error if it was refused, and the submit button. */
export function Submit({
  label,
  action,
}: {
  label: string;
  action: { isPending: boolean; isError: boolean; isSuccess: boolean; error: unknown };
}) {
  return (
    <>
      <Problem error={action.isError ? action.error : null} />
      <div className="actions">
        <Button type="submit" className="button button-primary" isDisabled={action.isPending}>
          {label}
        </Button>
        {action.isSuccess && <span role="status">Saved.</span>}
      </div>
    </>
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

/** Returns what `Field`, `Check` and `Choice` need to show and change a value of a draft, by its name. */
export function fieldsOf<Draft extends object>(draft: Draft, onChange: (draft: Draft) => void) {
  return <Name extends keyof Draft>(name: Name) => ({
    value: draft[name],
    onChange: (value: Draft[Name]) => onChange({ ...draft, [name]: value }),
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
