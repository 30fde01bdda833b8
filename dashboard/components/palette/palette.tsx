import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, type NavigateOptions } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import {
  Autocomplete,
  Dialog,
  Header,
  Input,
  Menu,
  MenuItem,
  MenuSection,
  Modal,
  ModalOverlay,
  SearchField,
} from 'react-aria-components';
import { answerOf, api } from '../../http/client.ts';
import { headline, plain } from '../../plain.ts';
import { jobAddress } from '../../jobs/job-address.ts';
import type { JobRef } from '../../jobs/job-queries.ts';
import { applyTheme, themes } from '../../theme.ts';
import { useSession } from '../session.tsx';
import { StatusBadge } from '../status.tsx';
import { commandsFor, hasWords, type Command } from './commands.ts';

const waitMs = 150;
const maxJobs = 8;

interface PaletteProps {
  onClose(): void;
  /** Lists only jobs, to compare this one with. */
  compareWith?: JobRef;
}

/** Shows the command palette: pages, actions, and the jobs that match what is typed, or the one with that id. */
export function Palette({ onClose, compareWith }: PaletteProps) {
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const q = useSettled(text.trim());
  const found = useQuery({
    queryKey: ['palette', q],
    queryFn: ({ signal }) => answerOf(api.GET('/v1/jobs', { params: { query: { q, limit: maxJobs } }, signal })),
    placeholderData: keepPreviousData,
  });
  const session = useSession();
  const go = (to: NavigateOptions) => {
    onClose();
    void navigate(to);
  };
  const run = ({ to, theme }: Command) => {
    if (theme !== undefined) applyTheme(theme);
    if (to === undefined) onClose();
    else go(to);
  };
  const { pages, actions } =
    compareWith === undefined ? commandsFor(text, themes, session) : { pages: [], actions: [] };
  const isSettled = !found.isPlaceholderData && q === text.trim();
  const jobs = (found.data?.jobs ?? [])
    .filter(({ id }) => id !== compareWith?.id)
    // keeps only the earlier results that also match the new text
    .filter(({ id, prompt, details }) => isSettled || hasWords(`${id} ${details.title ?? ''} ${prompt}`, text));
  const isComparing = compareWith !== undefined;
  const placeholder = isComparing ? 'Search jobs, or paste an id' : 'Search pages, actions and jobs, or paste an id';
  const open = (job: JobRef) =>
    isComparing
      ? go({ to: '/compare', search: { left: jobAddress(compareWith), right: jobAddress(job) } })
      : go({ to: '/jobs/$projectId/$id', params: { projectId: job.projectId, id: job.id } });
  return (
    <ModalOverlay className="overlay overlay-top" isDismissable isOpen onOpenChange={onClose}>
      <Modal className="modal palette">
        <Dialog className="dialog" aria-label={isComparing ? 'Compare with…' : 'Commands'}>
          <Autocomplete inputValue={text} onInputChange={setText}>
            <SearchField
              className="palette-search"
              aria-label={isComparing ? 'Search jobs' : 'Search pages, actions and jobs'}
              autoFocus
            >
              <Input className="input" placeholder={placeholder} />
            </SearchField>
            <Menu
              className="palette-list"
              aria-label="Results"
              renderEmptyState={() => (
                <p className="hint">{!isSettled || found.isFetching ? 'Searching…' : 'Nothing found.'}</p>
              )}
            >
              <CommandSection title="Pages" commands={pages} onRun={run} />
              <CommandSection title="Actions" commands={actions} onRun={run} />
              {jobs.length > 0 && (
                <MenuSection>
                  <Header>Jobs</Header>
                  {jobs.map((job) => {
                    const title = headline(plain(job.details.title ?? job.prompt), 80);
                    return (
                      <MenuItem
                        key={job.id}
                        id={job.id}
                        textValue={title}
                        className="palette-item"
                        onAction={() => open(job)}
                      >
                        <span className="palette-title">{title}</span>
                        <StatusBadge job={job} />
                      </MenuItem>
                    );
                  })}
                </MenuSection>
              )}
            </Menu>
          </Autocomplete>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function CommandSection({
  title,
  commands,
  onRun,
}: {
  title: string;
  commands: Command[];
  onRun(command: Command): void;
}) {
  if (commands.length === 0) return null;
  return (
    <MenuSection>
      <Header>{title}</Header>
      {commands.map((command) => (
        <MenuItem
          key={command.label}
          id={command.label}
          textValue={command.label}
          className="palette-item"
          onAction={() => onRun(command)}
        >
          {command.label}
        </MenuItem>
      ))}
    </MenuSection>
  );
}

/** Returns a value once it has not changed for a moment. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), waitMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
