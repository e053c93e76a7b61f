/**
 * How this machine multiplies uint8 by int8. x86 processors without VNNI add pairs of products in 16 bits and saturate:
 * results are wrong, quietly, for large values. Graphs for them avoid what saturates.
 */
export type IntegerKernel = 'exact' | 'saturating';
