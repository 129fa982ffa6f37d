import { describe, expect, it } from 'vitest'
import { stepFigures } from '../../tools/release/step-figures.js'

/** Lines as the commands print them, and what is kept of them. */
const samples: Readonly<Record<keyof typeof stepFigures, readonly [string, readonly string[]]>> = {
  audit: ['found 0 vulnerabilities\n', ['0 known weaknesses']],
  sbom: ['.results/sbom.json: 43 packages\n', ['43 packages']],
  package: [
    `"postern"

node16 (from ESM): 🟢 (ESM)

"postern/config/secrets"

node16 (from ESM): 🟢 (ESM)

All good!
`,
    ['2 entries are found as they should be'],
  ],
  runtimes: [
    `node_modules/node22/bin/node v22.23.3: registered, confirmed, signed in, refreshed, let in and signed out
node_modules/node26/bin/node v26.6.0: registered, confirmed, signed in, refreshed, let in and signed out
node_modules/.bin/bun 1.3.20: registered, confirmed, signed in, refreshed, let in and signed out
node_modules/.bin/deno deno 2.9.1 (stable, release, x86_64-unknown-linux-gnu): registered, confirmed, signed in, refreshed, let in and signed out
`,
    ['Node 22.23.3', 'Node 26.6.0', 'Bun 1.3.20', 'Deno 2.9.1'],
  ],
  model: [
    `
refresh: in every state
ok   two holders: 197483 states, 1.6 s, 135 MB
ok   a password change and endings: 5424929 states, 25.3 s, 414 MB

refresh: wrong on purpose, with the shortest way to what breaks
ok   a re-issue comes before the cap: 833 states, 0 s, 33 MB
       breaks: [] (the cap holds)
         holder: sends a refresh

intents: in every state
ok   a link, shown twice: 28533 states, 0.12 s, 126 MB

intents: wrong on purpose, with the shortest way to what breaks
ok   a link is read and not taken: 99 states, 0 s, 140 MB
ok   a ticket is read and not taken: 98 states, 0 s, 140 MB

every claim held in every state, and every planted fault broke the claim that it should
70 s in all
`,
    ['2 models, 3 scenarios', '5,650,945 states in all', '3 planted faults refuted'],
  ],
  everything: [
    `
22134 passed, 0 failed, 6 skipped
707 rows: 707 have a test, and passed on all where it ran
`,
    ['22,134 tests passed, 6 skipped', '707 rows of the ledger shown'],
  ],
  conformance: [
    ` Test Files  8 passed (8)
      Tests  2140 passed | 3 skipped (2143)
`,
    ['2,140 tests of the stores passed, 3 skipped'],
  ],
  malformed: [
    `stdout | test/reliability/malformed-requests.test.ts > requests that are not as they should be
express: 1000000 requests, 33 % read by a parser, replies {"200":3,"400":600}, heap 1.2 %

koa: 100020 requests, 35 % read by a parser, replies {"200":3,"503":1}, heap -0.4 %
`,
    [
      'express: 1,000,000 requests, 33 % of them read by a parser, heap +1.2 %',
      'koa: 100,020 requests, 35 % of them read by a parser, heap -0.4 %',
    ],
  ],
  fuzz: [
    `stdout | test/fuzz/tokens.test.ts > R24 whatever is taken for a token of access, which is ours, is safe
30500 of 1000000 were taken for a token of access, which is what our key signed

stdout | test/fuzz/hashes.test.ts > R24 whatever is taken for a hash of bcrypt is safe
719000 of 1000000 were taken for a hash of bcrypt, which costs what a login may
 ✓ test/fuzz/hashes.test.ts (1 test) 1086ms
`,
    [
      '2 parsers, 1,000,000 inputs each',
      '3.0 % of them or more were taken, and all of these are safe',
    ],
  ],
  tabs: ['seed 17: 104 rotations, 0 actions failed\n', ['104 rotations', '0 actions failed']],
  simulation: [
    `9 million steps
10000000 steps from seed 1 on, 4571 a second

actors, and how many of their requests succeeded:
right tab: 30 of 49 succeeded

rules, and how often each had something to judge:
outMeansOut: 41200 premises
editsFollowModel: 3120 premises

stolen things that were refused: link after reset 6

2 rules held
`,
    [
      '10,000,000 steps, 4,571 a second, with the seeds from 1 on',
      '2 rules held, each judged 3,120 times or more',
    ],
  ],
  planted: [
    `240 of 240 mistakes, each made in a copy of the sources; ok: a test noticed it

ok     3.1 s  a code is taken twice
               caught: test/domain/factors/codes.test.ts

240 of 240 plants were caught
`,
    ['240 of 240 mistakes were caught'],
  ],
  protocols: [
    `ok   a replay is answered: 10 of 10 seeds, median 12000 steps, most 52000
ok   an ending leaves the row: 10 of 10 seeds, median 4000 steps, most 90000
`,
    [
      '2 mistakes, each shown by 10 of 10 seeds',
      'after 12,000 steps in the median of the slowest, and 90,000 at most',
    ],
  ],
  rules: [
    `engine-a: 97.1 %, 1203 of 1239 noticed, 0.4 % of them by time-out
  survived  src/engine/addresses.ts:12  return true

src/engine: 96.2 %, 4123 of 4286 noticed, 0.5 % of them by time-out
`,
    ['`src/engine`: 96.2 %, 4,123 of 4,286 noticed, 0.5 % of these by a time-out'],
  ],
  cryptography: [
    `memo: 100.0 %, 40 of 40 noticed, 0.0 % of them by time-out

src/crypto: 94.0 %, 940 of 1000 noticed, 1.2 % of them by time-out
`,
    ['`src/crypto`: 94.0 %, 940 of 1,000 noticed, 1.2 % of these by a time-out'],
  ],
  bench: [
    '\n# Protected routes\n\nroute  CPU\n\n# Logins\n\n40 of 42 limits are met\n',
    ['2 suites', 'limits met: 40 of 42'],
  ],
  nodes: [
    '\n# Protected routes\n\n# Refresh\n\n12 of 14 limits are met\n\n# Protected routes\n\n# Refresh\n\n13 of 14 limits are met\n',
    ['2 suites on 2 versions of Node', 'limits met: 12 of 14, 13 of 14'],
  ],
  reliability: ['docs/reliability.md: 41 of 41 figures measured\n', ['41 figures']],
}

describe('the figures of a long run', () => {
  it.each(Object.entries(samples))('are taken from what it prints: %s', (name, [text, figures]) => {
    const figuresOf = stepFigures[name as keyof typeof stepFigures]
    expect(figuresOf(text.split('\n'))).toEqual(figures)
  })

  it.each(Object.entries(stepFigures))('are none where it printed something else: %s', (_, of) => {
    expect(of(['', ' Test Files  1 skipped (1)', '0 passed, 0 failed, 1 skipped', ''])).toEqual([])
  })
})
