import type { Predicate } from './judged.js'

/** I15: once no call fails any more, each owner signs in, changes the password and signs out. */
export const wayIn: Predicate = ({ marks, stuck }) => ({
  premises: marks.size,
  violations: stuck.map((owner) => `${owner} has no way in`),
})
