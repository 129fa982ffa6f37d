import type { PlantEntry } from './plant.js'

export const limitPlants: readonly PlantEntry[] = [
  {
    name: 'administration is counted per session alone, and not per user',
    file: 'src/domain/limits/rate-limiter.ts',
    find: '      if (sessionId === null) return\n',
    replace: "      if (sessionId === null || name === 'adminPerSession') return\n",
    tests: ['test/domain/limits/rate-limiter.test.ts'],
  },
  {
    name: 'a limit that is handed back is counted in the process first',
    file: 'src/domain/limits/rate-limiter.ts',
    find: "  'optionsPerIp',\n  'selfPerSession',\n",
    replace: "  'optionsPerIp',\n  'passwordChangePerUser',\n  'selfPerSession',\n",
    tests: ['test/domain/limits/rate-limiter.test.ts'],
  },
  {
    name: 'a full map of counts forgets hits that were not reported',
    file: 'src/domain/limits/rate-limiter.ts',
    find: 'if (windows.size >= capacity) return null',
    replace: 'if (windows.size >= capacity) windows.clear()',
    tests: ['test/domain/limits/deferred-counts.test.ts'],
  },
  {
    name: 'hits that come at once report the same hits twice',
    file: 'src/engine/limits.ts',
    find: "stage: stage === 'here' ? 'asked' : stage, unreported: 0 } as const",
    replace: "stage: stage === 'here' ? 'asked' : stage } as const",
    tests: ['test/domain/limits/deferred-counts.test.ts'],
  },
  {
    name: 'hits whose report failed are lost',
    file: 'src/engine/limits.ts',
    find: 'const earlier = isOver ? 0 : hits - 1',
    replace: 'const earlier = isOver ? 0 : 0',
    tests: ['test/domain/limits/deferred-counts.test.ts'],
  },
  {
    name: 'a process lets its allowance through twice where its windows meet',
    file: 'src/engine/limits.ts',
    find: 'if (quietAt <= now) return 0',
    replace: 'if (quietAt >= 0) return 0',
    tests: ['test/engine/deferred-count.test.ts'],
  },
  {
    name: 'a request with a listed token is counted',
    file: 'src/http/admission.ts',
    find: '  const user = readUserAhead(ctx, userId)\n',
    replace:
      "  const user = readUserAhead(ctx, userId)\n  void ctx.limits.checkSession('selfPerSession', { sessionId: null, userId })\n",
    tests: ['test/contract/sessions/round-trips.test.ts'],
  },
  {
    name: 'a stored address is measured as it is typed',
    file: 'src/settings/address-rules.ts',
    find: 'href.length > longestUrl',
    replace: 'decodeURI(href).length > longestUrl',
    tests: ['test/security/longest-urls.test.ts'],
  },
  {
    name: 'an access token of a provider is sent however long it is',
    file: 'src/identity-providers/provider-sign-in.ts',
    find: 'accessToken.length > longestAccessToken',
    replace: 'accessToken.length < 0',
    tests: ['test/security/longest-urls.test.ts'],
  },
  {
    name: 'a body that is too large is kept until it ends',
    file: 'adapters/shared/node-exchange.ts',
    find: '    if (size > maxBytes) break\n',
    replace: '',
    tests: ['test/contract/http/edge-uploads.test.ts'],
  },
]
