import { useId, useMemo, useState, type KeyboardEvent, type ReactNode } from 'react';
import type { GutterOptions } from 'react-diff-view';
import { CommentEditor, ShownComment } from './comment-editor.tsx';
import { commentOn, isOnLine, keyOfComment, linesOf, type LineComment, type Review } from './line-comments.ts';
import type { PatchFile } from './read-patch.ts';

interface CommentedLines {
  renderGutter(options: GutterOptions): ReactNode;
  widgets: Record<string, ReactNode>;
  /** Moves between lines with the arrow keys. */
  onKeyDown(event: KeyboardEvent<HTMLElement>): void;
}

/** Lets a person comment on lines of a file. Returns what its diff needs for that; null if it is only shown. */
export function useCommentedLines(
  file: PatchFile,
  comments: readonly LineComment[],
  onChange: Review['change'] | undefined,
): CommentedLines | null {
  const id = useId();
  const [edited, setEdited] = useState<string | null>(null);
  const lines = useMemo(() => linesOf(file), [file]);
  const close = (line: string) => {
    setEdited(null);
    document.getElementById(`${id}${line}`)?.focus();
  };
  if (onChange === undefined) return null;
  const widgets: Record<string, ReactNode> = {};
  for (const comment of comments) {
    if (!isOnLine(comment, lines)) continue;
    widgets[comment.line] = (
      <ShownComment
        comment={comment}
        onEdit={() => setEdited(comment.line)}
        onDelete={() => {
          onChange({ [keyOfComment(comment)]: undefined });
          close(comment.line);
        }}
      />
    );
  }
  const change = edited === null ? undefined : lines.get(edited);
  if (change !== undefined) {
    const fresh = commentOn(file.path, change);
    const { line } = fresh;
    const comment = { ...fresh, text: comments.find((one) => one.line === line)?.text ?? '' };
    widgets[line] = (
      <CommentEditor
        key={line}
        comment={comment}
        onSave={(saved) => {
          onChange({ [keyOfComment(saved)]: saved });
          close(line);
        }}
        onCancel={() => close(line)}
      />
    );
  }
  return {
    widgets,
    renderGutter({ change, side, renderDefault }) {
      if (side !== (change.type === 'delete' ? 'old' : 'new')) return renderDefault();
      const { line, place } = commentOn(file.path, change);
      return (
        <button
          type="button"
          id={`${id}${line}`}
          className="line-button"
          // the file is one stop of the Tab key; the arrow keys lead to its lines
          tabIndex={-1}
          aria-label={`Comment on ${place}`}
          onClick={() => setEdited(line)}
        >
          {renderDefault()}
        </button>
      );
    },
    onKeyDown(event) {
      const { key, target, currentTarget } = event;
      if (!(target instanceof HTMLElement) || !['ArrowDown', 'ArrowUp'].includes(key)) return;
      const buttons = [...currentTarget.querySelectorAll<HTMLElement>('.line-button')];
      const at = buttons.findIndex((button) => button === target);
      if (at === -1 && target !== currentTarget) return;
      event.preventDefault();
      buttons[key === 'ArrowDown' ? at + 1 : Math.max(0, at - 1)]?.focus();
    },
  };
}
