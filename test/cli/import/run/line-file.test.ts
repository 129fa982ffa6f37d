import { expect, it } from 'vitest'
import { type LineFile, withoutKnown } from '../../../../src/cli/import/run/run-import.js'

it('leaves the last line of a "from" last where two rows of a source have it', async () => {
  const written: object[] = []
  const file: LineFile = {
    path: 'ids.jsonl',
    append: async (lines) => {
      written.push(...lines)
      return 0
    },
    close: async () => {},
  }
  const [one, two] = [
    { from: 'a', to: '1' },
    { from: 'a', to: '2' },
  ]
  const again = withoutKnown(file, new Map([['{"from":"a"', JSON.stringify(two)]]))
  await again.append([one])
  await again.append([two])
  await again.append([two])
  expect(written).toEqual([one, two])
})
