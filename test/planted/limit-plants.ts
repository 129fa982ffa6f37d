import type { Plant } from './plant.js'

export const limitPlants: readonly Plant[] = [
  {
    name: 'administration is counted per session alone, and not per user',
    edits: [
      {
        file: 'src/domain/limits/rate-limiter.ts',
        find: '      if (sessionId === null) return\n',
        replace: "      if (sessionId === null || name === 'adminPerSession') return\n",
      },
    ],
    tests: ['test/domain/limits/rate-limiter.test.ts'],
  },
]
