/** The rules by which the two ends of a circuit prove themselves to each other, for the adapter of endpoints. */
export * from './facts/data-plane/direct-e2ee.ts'
