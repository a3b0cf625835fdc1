import { defineConfig } from 'vitest/config'

const integration = ['packages', 'tools', 'examples', 'bench'].map((folder) => `${folder}/**/src/**/*.integration.test.ts`)

export default defineConfig({
  resolve: {
    // The sources, so that no test runs against a stale build.
    alias: [
      { find: /^@es\/coordination-(\w+)$/, replacement: `${import.meta.dirname}/packages/$1/src/index.ts` },
      { find: '@es/test-server', replacement: `${import.meta.dirname}/tools/test-server/src/index.ts` },
    ],
  },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{packages,tools,examples,bench}/**/src/**/*.test.ts', 'scripts/**/*.test.mjs'],
          exclude: ['**/node_modules/**', ...integration],
          // A test that is slow because the machine is busy is not wrong.
          testTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: integration,
          globalSetup: './vitest.shared-server.ts',
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
          // After the unit tests, and not beside them: these measure time.
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
