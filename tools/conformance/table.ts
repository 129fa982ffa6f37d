/** A column of a table: what stands in each of its rows. */
export interface Column {
  readonly name: string
  readonly cells: ReadonlyMap<string, string>
}

/** Rows in the order in which the columns first name them; a cell that is missing is a dash. */
export function tableOf(corner: string, columns: readonly Column[]): string {
  const rows = [...new Set(columns.flatMap(({ cells }) => [...cells.keys()]))]
  const lines = [
    [corner, ...columns.map(({ name }) => name)],
    ...rows.map((row) => [row, ...columns.map(({ cells }) => cells.get(row) ?? '–')]),
  ]
  const widths = ['', ...columns].map((_, at) => widest(lines, at))
  return lines
    .map((cells) => cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n')
}

function widest(lines: readonly (readonly string[])[], at: number): number {
  return Math.max(...lines.map((cells) => cells[at]?.length ?? 0))
}
