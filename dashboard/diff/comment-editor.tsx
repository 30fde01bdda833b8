import { useState } from 'react';
import { Button, Label, TextArea, TextField } from 'react-aria-components';
import { plain } from '../plain.ts';
import type { LineComment } from './line-comments.ts';

interface CommentEditorProps {
  comment: LineComment;
  onSave(comment: LineComment): void;
  onCancel(): void;
}

/** Shows the field for a comment on a line. */
export function CommentEditor({ comment, onSave, onCancel }: CommentEditorProps) {
  const [text, setText] = useState(comment.text);
  const isEmpty = text.trim() === '';
  const save = () => {
    if (!isEmpty) onSave({ ...comment, text: text.trim() });
  };
  return (
    <div className="line-comment">
      <TextField className="field" value={text} onChange={setText} autoFocus>
        <Label className="label">Comment on {comment.place}</Label>
        <TextArea
          className="input"
          rows={3}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) save();
            if (event.key === 'Escape') onCancel();
          }}
        />
      </TextField>
      <div className="actions">
        <Button className="button button-primary" isDisabled={isEmpty} onPress={save}>
          Add comment
        </Button>
        <Button className="button" onPress={onCancel}>
          Cancel
        </Button>
      </div>
    </div>
  );
}

interface ShownCommentProps {
  comment: LineComment;
  /** Absent if its line is not in the diff. */
  onEdit?: () => void;
  onDelete(): void;
}

/** Shows a comment that was not sent yet. */
export function ShownComment({ comment, onEdit, onDelete }: ShownCommentProps) {
  const { path, place, text } = comment;
  return (
    <div className="line-comment" role="group" aria-label={`Your comment on ${place} of ${path}`}>
      <p className="words">{plain(text)}</p>
      <div className="actions">
        {onEdit !== undefined && (
          <Button className="button button-quiet" onPress={onEdit}>
            Edit
          </Button>
        )}
        <Button className="button button-quiet" onPress={onDelete}>
          Delete
        </Button>
      </div>
    </div>
  );
}
