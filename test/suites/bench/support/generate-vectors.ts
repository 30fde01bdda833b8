import { createRandom } from './generate-pages.ts';

/** Vectors as an embedding model would give them: near each other on a page and, less so, on a subject. */
export interface GeneratedVectors {
  /** Returns the vector of a passage, whose text begins with the title of its page. */
  ofPassage(text: string): number[];
  /** Returns the vector of a question that a passage answers. */
  ofQuestion(passage: readonly number[]): number[];
}

/** Meanings differ in fewer directions than a vector has, and in some of them more than in others. */
const directions = 96;
/** Lengths of what a vector consists of: random pairs have a cosine of 0.2, of one subject 0.5, of one page 0.7. */
const lengths = { all: 0.5, subject: 0.6, page: 0.4, passage: 0.5, noise: 0.3, question: 1.2 };

export function generateVectors(dimensions: number): GeneratedVectors {
  const random = createRandom(dimensions);
  const normal = () => random() + random() + random() + random() - 2;
  const spread = Float64Array.from({ length: directions }, (_, at) => (at + 1) ** -0.5);
  const axes = Float64Array.from({ length: directions * dimensions }, normal);
  const unit = (values: Float64Array) => {
    const length = Math.hypot(...values);
    return values.map((value) => value / length);
  };
  /** Returns a direction at random, in the space of meanings. */
  const meaning = () => {
    const weights = spread.map((scale) => scale * normal());
    const sum = new Float64Array(dimensions);
    for (let axis = 0; axis < directions; axis++) {
      const [weight, start] = [weights[axis] ?? 0, axis * dimensions];
      for (let at = 0; at < dimensions; at++) sum[at] = (sum[at] ?? 0) + weight * (axes[start + at] ?? 0);
    }
    return unit(sum);
  };
  const noise = () => unit(Float64Array.from({ length: dimensions }, normal));
  const all = meaning();
  const subjects = new Map<string, Float64Array>();
  let page = { title: '', direction: meaning() };
  const sumOf = (...parts: [number, Float64Array | readonly number[]][]) =>
    Array.from({ length: dimensions }, (_, at) =>
      parts.reduce((sum, [length, direction]) => sum + length * (direction[at] ?? 0), 0),
    );

  return {
    ofPassage(text) {
      const title = text.split(' > ', 1)[0] ?? '';
      // such as `Create a webhook`
      const name = title.split(' ', 3).join(' ');
      const subject = subjects.get(name) ?? meaning();
      subjects.set(name, subject);
      if (page.title !== title) page = { title, direction: meaning() };
      return sumOf(
        [lengths.all, all],
        [lengths.subject, subject],
        [lengths.page, page.direction],
        [lengths.passage, meaning()],
        [lengths.noise, noise()],
      );
    },
    ofQuestion: (passage) => sumOf([1, passage], [lengths.question, meaning()]),
  };
}
