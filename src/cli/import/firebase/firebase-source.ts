import { Refusal } from '../../frame/refusal.js'
import { openSourceFile } from '../files/source-file.js'
import type { CarryRules } from '../rows/carried-row.js'
import type { Source, SourceRow } from '../rows/import-source.js'
import { type ExportItem, exportItems } from './export-items.js'
import { firebaseRow } from './firebase-row.js'

export interface FirebaseOptions {
  /** Absolute. */
  readonly path: string
  readonly rules: CarryRules
  /** Keeps ids of two projects apart, such as the surface. */
  readonly space: string
}

interface Reading {
  readonly items: AsyncGenerator<ExportItem, undefined>
  /** The first byte that is read here. */
  readonly from: number
}

/** The users of `firebase auth:export users.json`. Throws `Refusal` for a file of another form. */
export async function firebaseSource({ path, rules, space }: FirebaseOptions): Promise<Source> {
  const file = await openSourceFile(path)
  const beginning = new TextDecoder().decode(file.beginning.subarray(0, 200))
  if (!/^\uFEFF?\s*\{\s*"users"\s*:\s*\[/.test(beginning)) {
    await file.close()
    throw new Refusal(
      'The file must begin with {"users": [ as firebase auth:export users.json writes it.',
      2,
    )
  }
  const readingFrom = (from: number): Reading => {
    return { items: exportItems(file.chunks(from), from === 0 ? 0 : 2), from }
  }
  let reading: Reading | null = null
  let next = 0

  return {
    fingerprint: `Firebase ${file.fingerprint}`,
    total: async () => null,

    async page(after, size) {
      const from = Number(after ?? 0)
      if (reading === null || from !== next) reading = readingFrom(from)
      const rows: SourceRow[] = []
      for (;;) {
        const { value: item } = await reading.items.next()
        if (item === undefined) return { rows, cursor: null }
        rows.push(firebaseRow(item.value, { rules, space }))
        next = reading.from + item.end
        if (rows.length === size) return { rows, cursor: String(next) }
      }
    },

    close: () => file.close(),
  }
}
