import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { openApiDocument } from '../src/openapi/index.js'
import { operations } from '../src/operations/index.js'
import { contractChanges } from './api/contract-changes.js'
import { contractEntries } from './api/contract-entries.js'

/** Renews the contract snapshot; a change that callers would notice has to be asked for. */
function main(mayBreak: boolean): void {
  const file = new URL('../test/openapi/contract.txt', import.meta.url)
  const before = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
  const after = contractEntries(operations, openApiDocument())
  const { broken, added } = contractChanges(before, after)
  for (const entry of broken) console.error(entry)
  if (broken.length > 0 && !mayBreak) {
    console.error(
      'Callers would notice, so nothing is written. With -- --breaking it is all the same.',
    )
    process.exitCode = 1
    return
  }
  writeFileSync(file, `${after.join('\n')}\n`)
  console.log(`test/openapi/contract.txt: ${after.length} entries, ${added.length} of them new`)
}

main(process.argv.includes('--breaking'))
