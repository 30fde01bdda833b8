import { useState } from 'react';
import { Button } from 'react-aria-components';
import type { Turn } from '../http/types.ts';
import { plain } from '../plain.ts';
import type { JobRef } from './job-queries.ts';

type Image = Turn['images'][number];

/** An image that is sent with a prompt. */
export interface Attached {
  filename: string;
  /** Data URL. */
  url: string;
}

/** Shows thumbnails of what a prompt or a tool showed to the model. */
export function Images({ job, images }: { job: JobRef; images: readonly Image[] }) {
  if (images.length === 0) return null;
  return (
    <div className="thumbnails">
      {images.map(({ hash, name, width, height }) => {
        const address = `/v2/agent/${job.projectId}/job/${job.id}/images/${hash}`;
        const label = plain(name ?? 'Image').slice(0, 100);
        return (
          <a key={hash} href={address} target="_blank" rel="noreferrer">
            <img src={address} alt={label} title={`${label} (${width} × ${height})`} loading="lazy" />
          </a>
        );
      })}
    </div>
  );
}

interface AttachedImagesProps {
  images: readonly Attached[];
  onChange(images: Attached[]): void;
}

/** Lets a person choose images for a prompt. */
export function AttachedImages({ images, onChange }: AttachedImagesProps) {
  const [problem, setProblem] = useState<string | null>(null);
  async function add(files: FileList | null): Promise<void> {
    try {
      onChange([...images, ...(await Promise.all(Array.from(files ?? [], attached)))]);
      setProblem(null);
    } catch {
      setProblem('The file could not be read.');
    }
  }
  return (
    <div className="field">
      <label className="field">
        <span className="label">Images</span>
        <input
          className="input"
          type="file"
          multiple
          accept="image/png,image/jpeg,image/gif,image/webp"
          onChange={({ target }) => {
            void add(target.files).then(() => (target.value = ''));
          }}
        />
        <span className="hint">Up to 5 images, 6 MB in total, for models that accept images.</span>
      </label>
      {problem !== null && <p className="field-error">{problem}</p>}
      {images.length > 0 && (
        <div className="thumbnails">
          {images.map(({ filename, url }, at) => (
            <Button
              key={`${at} ${filename}`}
              className="thumbnail-button"
              aria-label={`Remove ${filename}`}
              onPress={() => onChange(images.filter((_, position) => position !== at))}
            >
              <img src={url} alt={filename} />
            </Button>
          ))}
        </div>
      )}
    </div>
  );
}

async function attached(file: File): Promise<Attached> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = '';
  for (let at = 0; at < bytes.length; at += 8_192) text += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return { filename: file.name.slice(0, 200) || 'image', url: `data:${file.type || 'image/png'};base64,${btoa(text)}` };
}
