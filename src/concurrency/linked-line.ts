/** What stands in a line knows its neighbours. One that stands in none has neither. */
export interface Linked<T> {
  before: T | null
  after: T | null
}

/** Items in the order in which they were added. Each may stand in one line at a time. */
export interface LinkedLine<T> {
  first(): T | null
  /** Puts an item that stands in no line behind all others. */
  add(item: T): void
  /** Takes an item out, wherever it stands. Does nothing for one that stands in no line. */
  remove(item: T): void
}

/**
 * A line that items leave from anywhere, at the same small cost however long it is. A map or set keeps an
 * order as well, but passes over all that left at its head, again and again, whenever the first is asked for.
 */
export function linkedLine<T extends Linked<T>>(): LinkedLine<T> {
  let first: T | null = null
  let last: T | null = null
  return {
    first: () => first,

    add(item) {
      item.before = last
      if (last === null) first = item
      else last.after = item
      last = item
    },

    remove(item) {
      const { before, after } = item
      if (before === null && first !== item) return
      if (before === null) first = after
      else before.after = after
      if (after === null) last = before
      else after.before = before
      item.before = null
      item.after = null
    },
  }
}
