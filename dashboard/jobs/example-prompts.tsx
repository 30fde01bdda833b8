import { Button } from 'react-aria-components';

/** Returns prompts about documents of a repository, at most three. */
export function examplesOf(documents: string[]): string[] {
  const [first, second = first, third = second] = documents;
  if (first === undefined) return [];
  return [
    `Proofread ${first}: correct spelling and grammar, and change nothing else.`,
    `Compare ${second} with the code, and correct what is out of date.`,
    `Add an example to ${third}.`,
  ];
}

interface ExamplePromptsProps {
  documents: string[];
  onUse(prompt: string): void;
}

/** Offers prompts to begin with. Shows nothing while no document of the repository is known. */
export function ExamplePrompts({ documents, onUse }: ExamplePromptsProps) {
  if (documents.length === 0) return null;
  return (
    <ul className="starters" aria-label="Example prompts">
      {examplesOf(documents).map((example) => (
        <li key={example}>
          <Button className="button" onPress={() => onUse(example)}>
            {example}
          </Button>
        </li>
      ))}
    </ul>
  );
}
