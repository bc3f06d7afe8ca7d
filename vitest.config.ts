import { defineConfig } from 'vitest/config'

export default defineConfig({
  // Tests import the package by its name and get its source, as the examples do.
  resolve: { conditions: ['portcullis-source'] },
  ssr: { resolve: { conditions: ['portcullis-source'] } },
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
