import { defineConfig } from 'vitest/config'
import { SummaryReporter } from './test/support/summary-reporter.ts'

export default defineConfig({
  // Tests import the package by its name and get its source, as the examples do.
  resolve: { conditions: ['portcullis-source'] },
  ssr: { resolve: { conditions: ['portcullis-source'] } },
  test: {
    include: ['test/**/*.test.ts'],
    reporters: ['default', new SummaryReporter()],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
