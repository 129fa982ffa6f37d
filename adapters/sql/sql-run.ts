/** What the kernel sends with a statement. */
export type SqlValue = string | number | null

/** A row: the values of the select list, in its order. */
export type SqlRow = readonly unknown[]

/**
 * Sends one statement, as a transaction of its own, and gives its rows; none for a statement without. It rejects with
 * the driver's error, and sends nothing twice: after a lost connection the statement may have been carried out.
 */
export type SqlRun = (text: string, values: readonly SqlValue[]) => Promise<readonly SqlRow[]>
