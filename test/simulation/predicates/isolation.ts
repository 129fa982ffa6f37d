import { judged, type Predicate } from './judged.js'

/** I10: no reply about one account holds an address, a name, an id or a secret of another. */
export const isolation: Predicate = ({ exchanges, marks, secrets }) => {
  const foreign = (owner: string): readonly string[] =>
    [...marks].flatMap(([whose, texts]) =>
      whose === owner ? [] : [...texts, ...(secrets.get(whose) ?? [])],
    )
  const texts = new Map([...marks.keys()].map((owner) => [owner, foreign(owner)]))
  return judged(
    exchanges
      .filter(({ body }) => body !== '')
      .map((one) => [one, (texts.get(one.owner) ?? []).some((text) => one.body.includes(text))]),
  )
}
